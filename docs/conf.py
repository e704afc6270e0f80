"""The guide: ``python -m sphinx -W docs build`` runs the examples and writes the site to ``build``."""

from __future__ import annotations

import inspect
import os
import sys
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import oc1
from oc1.animation.page import write_page
from oc1.animation.recording import record_search
from oc1.datasets import make_rcb
from oc1.explore import explore

sys.path.insert(0, str(Path(__file__).parent))  # for picture_style

project = "oc1"
author = "The oc1 developers"
copyright = author
version = release = oc1.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["build", "pictures", "sg_execution_times.rst", "auto_examples/sg_execution_times.rst"]
# Notebooks and indices of the gallery are not pages.
exclude_patterns += ["auto_examples/*.ipynb", "auto_examples/*.py", "auto_examples/*.json"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

# -- Reference -------------------------------------------------------------------------------------------------------

default_role = "py:obj"
autodoc_typehints = "none"  # numpydoc's own words say more
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
add_module_names = False
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"
nitpicky = True
# Single backquotes in docstrings are parameters more often than names that have a place in the reference.
nitpick_ignore_regex = [("py:obj", ".*")]
#: Where a short name in a docstring may live.
PLACES = ("oc1", "oc1.baselines", "oc1.evaluation", "oc1.datasets", "oc1.tree.linear", "oc1.plotting")
PLACES += ("oc1.evaluation.comparison", "oc1.dask")

# -- Gallery ---------------------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "image_srcset": ["1.5x"],
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    # Its own reset comes first, and takes all settings back.
    "reset_modules": ("matplotlib", "seaborn", "picture_style.use_style"),
    "plot_gallery": os.environ.get("OC1_RUN_EXAMPLES") != "no",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
}

# -- Pages -----------------------------------------------------------------------------------------------------------

WIDE = (
    "parameters",
    "systems",
    "reproduction",
    "better-trees",
    "default-tree",
    "cluster",
    "case-credit",
    "case-crashes",
)
WIDE += ("results", "stability", "architecture", "auto_examples/08_does_it_pay")
html_theme = "pydata_sphinx_theme"
html_title = "oc1"
html_static_path = ["static"]
html_css_files = ["pictures.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "oc1"},
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    # Pages with wide tables and long lines need the room.
    "secondary_sidebar_items": {"**": ["page-toc"]} | dict.fromkeys(WIDE, ()),
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}


def _is_foreign(app, what: str, name: str, member: Any, skip: bool, options) -> bool | None:
    """Leave out what scikit-learn's classes bring along: its own documents have it."""
    home = getattr(getattr(member, "fget", member), "__module__", None) or ""
    return True if what == "class" and home.split(".")[0] in {"sklearn", "builtins"} else None


def _find_short_name(app, env, node, contnode):
    """Link names that docstrings use without saying where they live."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or "." in target:
        return None
    domain = env.get_domain("py")
    for place in PLACES:
        full = f"{place}.{target}"
        if full in domain.objects:
            return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", full, node, contnode)
    return None


def _name_parameters(app, what: str, name: str, member: Any, options, signature, returns):
    """Write the parameters of an estimator: its ``__new__``, where autodoc looks for them, takes any."""
    if what != "class" or not issubclass(member, BaseEstimator) or (signature or "").count("client"):
        return None
    own = inspect.signature(member)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in own.parameters.values()]
    return str(own.replace(parameters=plain, return_annotation=inspect.Signature.empty)), None


def _quote_names(app, what: str, name: str, member: Any, options, lines: list[str]) -> None:
    """Keep reStructuredText from reading a trailing underscore in a shape as a link."""
    lines[:] = [line.replace("(n_features_in_,)", "(``n_features_in_``,)") for line in lines]


def _make_pages(app) -> None:
    """Write pages to explore four trees, and a search, beside the others."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "explore"
    folder.mkdir(parents=True, exist_ok=True)
    iris, cancer, digits = (load(as_frame=True) for load in (load_iris, load_breast_cancer, load_digits))
    board = make_rcb(2000, random_state=0)
    examples = {
        "iris": ("Iris", iris.data, iris.target_names[iris.target]),
        "rcb": ("The rotated checker board", *board),
        "digits": ("Handwritten digits", digits.data, digits.target),
        "cancer": ("Breast cancer", cancer.data, cancer.target_names[cancer.target]),
    }
    for name, (title, X, y) in examples.items():
        clf = oc1.OC1Classifier(random_state=0).fit(X, y)
        explore(clf, X, y, title=title).save(folder / f"{name}.html")
    shown = f'<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark">{clf._repr_html_()}'
    (folder / "notebook.html").write_text(shown, encoding="utf-8")
    write_page(record_search(*board, n_restarts=5, random_state=0), folder / "search.html")


def setup(app) -> None:
    """Connect the functions above."""
    app.connect("builder-inited", _make_pages)
    app.connect("autodoc-process-docstring", _quote_names, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", _is_foreign)
    app.connect("autodoc-process-signature", _name_parameters)
    app.connect("missing-reference", _find_short_name)
