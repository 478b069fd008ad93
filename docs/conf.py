"""Sphinx settings: Markdown pages, no broken links (the build treats warnings as errors)."""

from importlib.metadata import version as installed_version

project = "dynid"
author = "The dynid developers"
project_copyright = f"2026, {author}"
release = version = installed_version("dynid")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_typehints = "none"  # the docstrings say what an argument is, with unit and shape
autodoc_member_order = "bysource"
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nitpicky = True
# Our docstrings name errors and say types in words; only links of pages are held to lead somewhere.
nitpick_ignore_regex = [("py:(class|exc)", ".*")]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"dynid {release}"


def plain_bars(app, what, name, obj, options, lines):
    """Absolute values in docstrings are no substitutions of reStructuredText."""
    lines[:] = [line.replace("|", "\\|") for line in lines]


def setup(app):
    """Let autodoc read docstrings as they are written."""
    app.connect("autodoc-process-docstring", plain_bars, priority=400)
