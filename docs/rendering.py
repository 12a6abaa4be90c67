"""What the pages have beyond Sphinx's own: formulas as MathML, signatures with types, executed notebooks to download.

Formulas are translated when the pages are built, so that browsers show them without a script and without a network.
"""

from __future__ import annotations

import inspect
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes

#: what stands above a notebook
NOTEBOOK = (
    '<p class="download"><a href="{file}" download>Download this notebook with its results ({file})</a>; it opens by '
    '<code>pip install ".[notebooks]"</code> and <code>jupyter lab {file}</code>.</p>\n'
)


def mathml(formula: str, display: bool) -> str:
    """A formula of LaTeX as an element of MathML, in the words that the translator knows."""
    from latex2mathml.converter import convert

    known = formula.strip().replace("{aligned}", "{split}").replace(r"\perp", r"\;\perp\;")
    return str(convert(known, display="block" if display else "inline"))


def visit_inline(writer: Any, node: Any) -> None:
    writer.body.append(mathml(node.astext(), display=False))
    raise nodes.SkipNode


def visit_block(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="formula">{mathml(node.astext(), display=True)}</div>\n')
    raise nodes.SkipNode


def escape_magnitudes(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings write |v| for a magnitude; outside of literals, Sphinx would take it for a substitution."""
    for i, line in enumerate(lines):
        parts = re.split(r"(``.*?``|`.*?`)", line)
        lines[i] = "".join(part if part.startswith("`") else part.replace("|", r"\|") for part in parts)


def head_examples(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """An example below a section, such as Parameters, is one of its own: it would be taken for a parameter."""
    first = next((k for k, line in enumerate(lines) if line.startswith(">>>")), 0)
    if any(re.fullmatch("-{4,}", line) for line in lines[:first]) and "Examples" not in lines:
        lines[first:first] = ["Examples", "--------"]


def end_examples(app: Any, name: str, source: list[str]) -> None:
    """A doctest ends with an empty line, which a page need not show."""
    source[0] = re.sub(r"\n\n```(?=\n)", "\n```", source[0])


def plain(annotation: Any) -> str:
    """A type as it is written in the code, without the quantities of numbers and the folders of names.

    >>> plain('Annotated[float | Components, Quantity("N m", positive=True)]'), plain("np.ndarray | None")
    ('float | Components', 'ndarray | None')
    """
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    while (found := re.search(r"Annotated\[", text)) is not None:
        depth, comma, end = 0, 0, len(text)
        for i in range(found.end(), len(text)):
            depth += (text[i] in "[(") - (text[i] in "])")
            if text[i] == "," and depth == 0 and not comma:
                comma = i
            if depth < 0:
                end = i
                break
        text = text[: found.start()] + text[found.end() : comma or end] + text[end + 1 :]
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


def typed_signature(
    app: Any, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Names, types and defaults, as they stand in the code."""
    if what not in ("class", "function", "method", "exception") or signature is None:
        return None
    try:
        found = inspect.signature(obj)
    except (TypeError, ValueError):
        return None
    own = what == "method" and not inspect.ismethod(obj)
    words, keyword_only = [], False
    for parameter in list(found.parameters.values())[1 if own and signature.count("self") == 0 else 0 :]:
        if parameter.name == "self" or (what in ("class", "exception") and parameter.name.startswith("_")):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            words += [] if any(word.startswith("*") for word in words) else ["*"]
            keyword_only = True
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        word = stars + parameter.name
        if parameter.annotation is not parameter.empty:
            word += f": {plain(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            value = repr(parameter.default)
            word += f" = {value if len(value) < 40 and '<' not in value else '...'}"
        words.append(word)
    result = found.return_annotation
    shown = None if what in ("class", "exception") or result is found.empty else plain(result)
    return f"({', '.join(words)})", shown


def public_name(app: Any, env: Any, node: Any, text: Any) -> Any:
    """A type or a name in backticks without its module, where it is one of the public names."""
    if node.get("refdomain") != "py":
        return None
    domain = env.get_domain("py")
    whole = str(node.get("reftarget", ""))
    target = whole.rpartition(".")[2]
    if not (target[:1].isupper() or whole.startswith("nonsmooth.")):  # `points` may be a field as well as a function
        return None
    for name, entry in domain.objects.items():
        if name.rpartition(".")[2] == target and name.startswith("nonsmooth.") and entry.objtype in KINDS:
            from sphinx.util.nodes import make_refnode

            return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, text, name)
    return None


KINDS = ("class", "function", "exception")


def offer_notebook(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """A line above each notebook that leads to the executed file."""
    if page.startswith("notebooks/") and app.config.nb_execution_mode != "off":
        file = escape(f"{Path(page).name}.ipynb")
        context["body"] = re.sub(
            r"(</h1>\n?)", lambda found: found[1] + NOTEBOOK.format(file=file), context["body"], count=1
        )


def copy_notebooks(app: Any, error: Exception | None) -> None:
    """Executed notebooks beside their pages."""
    made = Path(app.outdir).parent / "jupyter_execute" / "notebooks"
    if error is None and app.builder.format == "html" and app.config.nb_execution_mode != "off":
        for file in sorted(made.glob("*.ipynb")):
            shutil.copy(file, Path(app.outdir) / "notebooks" / file.name)


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.connect("source-read", end_examples)
    app.connect("autodoc-process-docstring", escape_magnitudes)
    app.connect("autodoc-process-docstring", head_examples, priority=400)  # before napoleon divides it
    app.connect("autodoc-process-signature", typed_signature)
    app.connect("missing-reference", public_name)
    app.connect("html-page-context", offer_notebook)
    app.connect("build-finished", copy_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
