"""The site: Sphinx with the theme of the field. `make docs` builds it; it needs no network, then or later."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "hooks"), str(HERE.parent / "src")]

import abstain  # noqa: E402

project = "abstain"
author = "the abstain developers"
copyright = author
release = version = abstain.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    # Our own, in docs/hooks.
    "breaks",
    "contents",
    "crawl",
    "descriptions",
    "examples",
    "formulas",
    "parameters",
    "thumbnails",
    "offline",
]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py"]
nitpick_ignore_regex = [("py:.*", ".*")]  # names of parameters and of other packages: code, no links

# The menu, by need: under each page those beside it. Pages stay plain Markdown; "Overview <self>" is the page itself.
service = ("promises", "shadow", "operations", "sizing", "moving", "label-studio", "routing")
pages = {
    "index": [
        "Get started <tutorial>",
        "Gate <gate>",
        "Service <service/index>",
        "Evidence <evidence>",
        "Theory <concepts>",
        "Research <which>",
        "reference/index",
        "Project <changelog>",
    ],
    "tutorial": [
        "Tutorial for engineers <self>",
        "Tutorial for researchers <research>",
        "when-not",
        "compared",
        "faq",
        "glossary",
    ],
    "gate": ["Overview <self>", "replay", "report", "combining", "capacity", "health", "llm", "adapters", "production"],
    "service/index": ["Overview <self>", *(f"service/{name}" for name in service)],
    "evidence": ["Overview <self>", "logs", "reproduce", "statements", "benchmarks"],
    "concepts": ["Concepts <self>", "guarantees", "doubly-robust", "feedback", "memory", "successors"],
    "which": ["Which learner? <self>", "howto", "studies", "extend", "datasets", "gallery/index"],
    "reference/index": [
        f"reference/{name}"
        for name in ("gate", "service", "game", "learners", "experts", "losses", "graphs", "theory", "data", "types")
    ],
    "reference/gate": [
        f"{name} <reference/classes/{name}>"
        for name in (
            "Gate",
            "Case",
            "PerStake",
            "Capacity",
            "Health",
            "ModelHealth",
            "LabelWarning",
            "SklearnGateClassifier",
            "RiverGateClassifier",
        )
    ],
    "reference/game": [f"{name} <reference/classes/{name}>" for name in ("Decision", "Trace", "Best")],
    "reference/experts": [f"{name} <reference/classes/{name}>" for name in ("ExpertSet", "Advice")],
    "reference/learners": [
        f"{name} <reference/classes/{name}>"
        for name in (
            "DoublyRobust",
            "Exp3Abs",
            "Exp3",
            "UCB",
            "UCBNT",
            "UCBGT",
            "UCBDSG",
            "FullSupervision",
            "Stacked",
            "UCBAbs",
            "FastRates",
            "ContExp3Abs",
            "Learner",
            "WeightedLearner",
            "IndexLearner",
            "Choice",
            "Report",
            "KernelLearner",
            "Kernels",
            "WeightKernels",
        )
    ],
    "changelog": ["Changelog <self>", "contributing"],
}

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "formulas"

default_role = "py:obj"  # `name` in a docstring: a link where there is such a thing, else code
autoclass_content = "class"
autodoc_default_options = {"members": True, "no-value": True}
autodoc_inherit_docstrings = False  # what a learner overrides is the engine's business
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docs/hooks/parameters.py has them
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

# Copied are commands and code, without prompts and without what they print.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "thumbnail_size": (600, 420),
    "remove_config_comments": True,
    "min_reported_time": 0,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "abstain"
html_static_path = ["style", "pictures/social.png"]
html_favicon = "style/favicon.svg"
description = (
    "Human in the loop for models with a confidence: learn which model to follow and when to hand a case to a person, "
    "from late and partial labels."
)
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_show_sphinx = False
html_copy_source = False
html_domain_indices = False  # the index has all names
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": "abstain"},
    "header_links_before_dropdown": 9,
    "external_links": [{"name": "Paper", "url": "https://proceedings.mlr.press/v80/cortes18a.html"}],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
