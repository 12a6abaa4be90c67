"""Sphinx: ``sphinx-build -W -c docs . build/docs``, from the root, so that links work here as in the repository.

Notebooks are executed; ``-D nb_execution_mode=off`` leaves that out.
"""

import re

from nonsmooth import __version__

project = "nonsmooth"
copyright = "The nonsmooth authors, BSD-3-Clause"
version = release = __version__

root_doc = "docs/index"
include_patterns = ["docs/**", "notebooks/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = ["**/.ipynb_checkpoints"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
smartquotes_action = "qe"  # two hyphens are the start of an option, no dash
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"nonsmooth {version}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]


def escape_magnitudes(app, what, name, obj, options, lines):
    """Docstrings write |v| for a magnitude; outside of literals, Sphinx would take it for a substitution."""
    for i, line in enumerate(lines):
        parts = re.split(r"(``.*?``|`.*?`)", line)
        lines[i] = "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)


def end_examples(app, name, source):
    """A doctest ends with an empty line, which a page need not show."""
    source[0] = re.sub(r"\n\n```(?=\n)", "\n```", source[0])


def setup(app):
    app.connect("source-read", end_examples)
    app.connect("autodoc-process-docstring", escape_magnitudes)
