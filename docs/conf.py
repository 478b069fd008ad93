"""Sphinx settings: Markdown pages, no broken links (the build treats warnings as errors)."""

from importlib.metadata import version as installed_version

project = "dynid"
author = "The dynid developers"
project_copyright = f"2026, {author}"
release = version = installed_version("dynid")

extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nitpicky = True
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"dynid {release}"
