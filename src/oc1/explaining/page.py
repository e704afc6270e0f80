"""An explanation as HTML: no script, nothing that is loaded, light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..tree.notebooks import escaped
from . import words

if TYPE_CHECKING:
    from .explanation import Explanation
    from .steps import Evidence, Step

#: Attributes of a test that get a bar.
MAX_BARS = 8

STYLE = """
.oc1-explanation {font: 14px/1.5 system-ui, sans-serif; color: inherit; max-width: 46em; overflow-wrap: anywhere}
.oc1-explanation p {margin: .3em 0}
.oc1-explanation .answer {font-size: 1.3em; font-weight: 600}
.oc1-explanation ol {padding-left: 1.6em; margin: .6em 0}
.oc1-explanation li {margin: .8em 0}
.oc1-explanation .test {font-family: ui-monospace, monospace; font-size: .92em}
.oc1-explanation table {border-collapse: collapse; border: 0; margin: .4em 0; font-size: .92em; background: none}
.oc1-explanation tr, .oc1-explanation td, .oc1-explanation th {background: none !important; border: 0; color: inherit}
.oc1-explanation th, .oc1-explanation td {padding: .1em .6em .1em 0; text-align: left !important;
  vertical-align: middle; overflow-wrap: break-word; max-width: 24em}
.oc1-explanation th {font-weight: 600; opacity: .8}
.oc1-explanation .n {text-align: right !important; font-variant-numeric: tabular-nums; white-space: nowrap}
.oc1-explanation .bars {padding-right: 0}
.oc1-explanation .swatch {display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .35em}
.oc1-explanation .bar {display: flex; height: .8em; width: min(10em, 20vw); background:
  linear-gradient(currentColor, currentColor) center / 1px 100% no-repeat; border-radius: 2px}
.oc1-explanation .bar span {height: 100%; border-radius: 2px}
.oc1-explanation .for {background: currentColor; opacity: .75} .oc1-explanation .against {background: #8888}
.oc1-explanation .note {opacity: .75; font-size: .92em}
"""


def to_html(explanation: Explanation) -> str:
    """Return a piece of HTML for a notebook or another page."""
    parts = [_paragraph(words.headline(explanation), kind="answer"), _paragraph(*words.introduction(explanation))]
    if explanation.steps:
        steps = "".join(f"<li>{_step(step, explanation)}</li>" for step in explanation.steps)
        parts.append(f"<ol>{steps}</ol>")
    parts += [_paragraph(sentence) for sentence in words.change_sentences(explanation)]
    parts += [_change(explanation), _paragraph(*words.notes(explanation), kind="note")]
    return f'<div class="oc1-explanation"><style>{STYLE}</style>{"".join(parts)}</div>'


def _step(step: Step, explanation: Explanation) -> str:
    ending = words.outcome_sentence(step), words.closeness_sentence(step, explanation.knows_averages)
    parts = [_paragraph(step.test, kind="test"), _paragraph(words.answer_sentence(step)), _evidence(step)]
    return "".join([*parts, _paragraph(*ending)])


def _evidence(step: Step) -> str:
    """Return the attributes of a test with bars: to the right what speaks for the answer, to the left what does not."""
    sentences = words.evidence_sentences(step)
    if not sentences or step.speaks_for is None or step.speaks_against is None:
        return "".join(_paragraph(one) for one in sentences)
    known = sorted(step.evidence, key=lambda own: -abs(own.push))
    most = abs(known[0].push) or 1.0
    rows = "".join(_bar(own, most) for own in known[:MAX_BARS])
    more = len(known) - MAX_BARS
    rest = f'<tr><td colspan="4" class="note">and {more} more that matter less</td></tr>' if more > 0 else ""
    legend = " ".join(
        f'<span class="swatch {kind}"></span>for {escaped(words.side_words(side))}&ensp;'
        for kind, side in (("for", step.speaks_for), ("against", step.speaks_against))
    )
    head = '<tr><th></th><th class="n">value</th><th class="n">average</th><th class="bars"></th></tr>'
    return f"<p>{legend}</p><table>{head}{rows}{rest}</table>{_paragraph(sentences[0], kind='note')}"


def _bar(own: Evidence, most: float) -> str:
    width = 50 * abs(own.push) / most
    kind, start = ("for", 50.0) if own.push > 0 else ("against", 50 - width)
    bar = f'<div class="bar"><span class="{kind}" style="margin-left:{start:.1f}%;width:{width:.1f}%"></span></div>'
    value = "not known" if own.value is None else words.exact(own.value, 5)
    average = "" if own.average is None else words.exact(own.average, 4)
    numbers = "".join(f'<td class="n">{escaped(text)}</td>' for text in (value, average))
    return f'<tr><td>{escaped(words.cut(own.name))}</td>{numbers}<td class="bars">{bar}</td></tr>'


def _change(explanation: Explanation) -> str:
    if explanation.change is None or len(explanation.change.values) < 2:
        return ""
    rows = "".join(
        f'<tr><td>{escaped(name)}</td><td class="n">{escaped(before)}</td><td>\N{RIGHTWARDS ARROW}</td>'
        f'<td class="n">{escaped(after)}</td></tr>'
        for name, before, after in words.changed_values(explanation.change)
    )
    return f"<table>{rows}</table>"


def _paragraph(*sentences: str, kind: str = "") -> str:
    text = " ".join(one for one in sentences if one)
    mark = f' class="{kind}"' if kind else ""
    return f"<p{mark}>{escaped(text)}</p>" if text else ""
