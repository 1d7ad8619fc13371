"""The site: `make docs` builds it into docs/_build/html."""

import os
import warnings

from sparsebayes import __version__

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

project = "sparsebayes"
author = "The sparsebayes developers"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "**/README.txt", "README.md"]
templates_path = ["_templates"]
root_doc = "index"

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "sparsebayes"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "github_url": "https://github.com/sparsebayes/sparsebayes",
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
copyright = "The sparsebayes developers, BSD-3-Clause"

# What a prompt shows is not copied.
copybutton_prompt_text = r">>> |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r".*\.py$",
    "ignore_pattern": r"__init__\.py|[/\\]_",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "min_reported_time": 0,
    "show_memory": False,
    "parallel": 2,
    "matplotlib_animations": False,
    "plot_gallery": os.environ.get("SPARSEBAYES_GALLERY", "True"),
}


_THEIRS = {"sklearn", "sktime", "skbase"}


def _skip(app, what, name, obj, skip, options):
    """Methods that other libraries make or bring, and describe on pages of their own."""
    made = name.startswith("set_") and name.endswith("_request")
    home = (getattr(obj, "__module__", None) or "").partition(".")[0]
    return True if made or home in _THEIRS else skip


def setup(app):
    app.connect("autodoc-skip-member", _skip)
