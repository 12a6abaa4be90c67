"""Sphinx: ``sphinx-build -W -c docs . build/docs``, from the root, so that links work here as in the repository.

Notebooks are executed; ``-D nb_execution_mode=off`` leaves that out.
"""

import sys
from pathlib import Path

from nonsmooth import __version__

sys.path.insert(0, str(Path(__file__).resolve().parent))  # where `rendering` lies

project = "nonsmooth"
copyright = "The nonsmooth authors, BSD-3-Clause"
version = release = __version__

root_doc = "docs/index"
include_patterns = ["docs/**", "notebooks/**", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
exclude_patterns = ["**/.ipynb_checkpoints", "docs/_templates"]
extensions = [
    "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx_copybutton", "rendering",
]  # fmt: skip
templates_path = [str(Path(__file__).resolve().parent / "_templates")]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
smartquotes_action = "qe"  # two hyphens are the start of an option, no dash
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autosummary_generate = True  # a page for each name of api.md, in docs/api
maximum_signature_line_length = 90
default_role = "py:obj"  # names in single backticks lead to their pages, others stay as they are
html_math_renderer = "mathml"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_attr_annotations = False  # types stand in the signature

html_theme = "furo"
html_title = f"nonsmooth {version}"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "  # of a session its input alone
copybutton_prompt_is_regexp = True
