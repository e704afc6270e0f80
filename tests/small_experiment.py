"""A small experiment of the tests, and what its report looks like."""

from html.parser import HTMLParser

from oc1 import OC1Classifier
from oc1.experiments import reproduce as runner
from oc1.experiments.definitions import Cell, Experiment, Published, cross

QUICK = {"preset": "paper", "n_restarts": 1, "n_jumps": 0}


def make_small_experiment():
    """Return two learners on two artificial sets, one of which the paper has a value for."""
    small, smaller = OC1Classifier(**QUICK), OC1Classifier(max_depth=1, **QUICK)
    cells = (
        *cross(("POL",), {"small": small, "smaller": smaller}),
        Cell("LS10", "small", small, Published(leaves=2.0)),
        Cell("LS10", "smaller", smaller),
    )
    return Experiment("tiny", "A <tiny> experiment", "small & good", cells, (("small", "smaller"),))


def run(experiment, out, **options):
    return runner.reproduce(experiment, out, repeats=2, n_samples=100, say=lambda line: None, **options)


class Page(HTMLParser):
    """Collects what a page holds; knows whether every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.classes, self.sources, self.tags = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.classes.append((tag, dict(attrs).get("class")))
        self.sources += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
