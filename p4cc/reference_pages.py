"""Reference pages that are made of the code when the site is built: scenario, algorithms, command line.

`PAGES` maps a page's path below docs/ to the function that gives its Markdown; docs/_site/hook.py calls them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping

from pydantic import BaseModel

TEXT_WIDTH = 100
"""Columns of the texts of `p4cc schema` on the page of scenarios."""


def scenario_page() -> str:
    """Every part of a scenario, and every kind of it, as `p4cc schema PART` explains them."""
    return "\n".join(_scenario_lines())


def _scenario_lines() -> Iterator[str]:
    from p4cc.scenario import parts

    yield "# Scenario"
    yield ""
    yield "Every field of a scenario, as `p4cc schema PART` prints it; `p4cc schema` without a part prints JSON Schema"
    yield "for an editor. [How to write a scenario](../how-to/write-a-scenario.md) is the introduction."
    for name in parts.names():
        part = parts.find(name)
        yield from _part(f"## {name}", parts.text(part, TEXT_WIDTH))
        # A part with a single kind has its fields as steps, so it is already complete here.
        for kind in sorted(set(parts.kinds_at(part)) & set(parts.steps(part))):
            path = f"{name}.{kind}"
            yield from _part(f"### {path}", parts.text(parts.find(path), TEXT_WIDTH))


def _part(heading: str, text: str) -> Iterator[str]:
    yield from ("", heading, "", "```text", text, "```")


def algorithms_page() -> str:
    """Every algorithm of the registries with its parameters, as `p4cc algorithms` lists them."""
    return "\n".join(_algorithm_lines())


def _algorithm_lines() -> Iterator[str]:
    from p4cc.algorithms import registry

    yield "# Parameters of the algorithms"
    yield ""
    yield "The algorithms that senders can run, as `p4cc algorithms` lists them. The pages of"
    yield "[each family](../algorithms/README.md) explain formulas and choices."
    kind = None
    for entry in registry():
        if entry.kind != kind:
            kind = entry.kind
            yield from ("", f"## {kind.replace('_', ' ')}")
        needs = entry.switch_needs.replace("_", " ")
        yield from ("", f"### {entry.name}", "", f"{_cell(entry.summary)}.", "")
        yield f"Switches must provide: {needs}. Source: {entry.source}."
        if entry.parameters:
            yield from ("", "| parameter | default | values | meaning | source |", "|---|---|---|---|---|")
        for one in entry.parameters:
            default = one.default_text() or "required"
            yield f"| `{one.name}` | {default} | {one.values()} | {_cell(one.summary)} | {one.source} |"


def _cell(text: str) -> str:
    """A text for a cell of a table."""
    return text.replace("|", "\\|")


def command_line_page() -> str:
    """Every command with its arguments and options, as `--help` shows them."""
    import typer
    from typer.cli import get_docs_for_click

    from p4cc.cli import whole_command

    command = whole_command()
    context = typer.Context(command, info_name="p4cc")
    return get_docs_for_click(obj=command, ctx=context, name="p4cc", title="Command line")


def python_page() -> str:
    """What `import p4cc` and `p4cc.parts` offer: signatures and docstrings."""
    return "\n".join(_python_lines())


def _python_lines() -> Iterator[str]:
    import p4cc
    from p4cc import parts

    yield "# Python"
    yield ""
    yield (
        "The public interface of `import p4cc`, generated from the code. [How to use p4cc from "
        "Python](../how-to/use-from-python.md)"
    )
    yield "is the introduction."
    for name in p4cc.__all__:
        yield from _python_entry(f"p4cc.{name}", getattr(p4cc, name))
    yield from ("", "## p4cc.parts", "")
    yield "The parts of a scenario as classes; [their fields](scenario.md) are those of a scenario file."
    yield from ("", "| name | description |", "|---|---|")
    for name in sorted(parts.__all__):
        yield f"| `{name}` | {_cell(_documented(getattr(parts, name)).partition(chr(10))[0])} |"


def _python_entry(name: str, value: Callable[..., object]) -> Iterator[str]:
    """A function, or a class with its public methods."""
    from p4cc.api.tables import TableOf

    is_class = inspect.isclass(value)
    yield from ("", f"## {name}", "")
    # A model's fields are on the page of scenarios.
    if not (is_class and issubclass(value, (BaseException, BaseModel))):
        yield from ("```python", _signature(name, value), "```", "")
    yield _documented(value)
    if not is_class or issubclass(value, BaseException):
        return
    tables = [held for held, one in inspect.getmembers_static(value) if isinstance(one, TableOf)]
    if tables:
        yield from ("", f"Tables, each as a frame: {', '.join(f'`{held}`' for held in tables)}.")
    for held, one in _members(value):
        yield from ("", f"### {name}.{held}", "")
        if not isinstance(one, property):
            yield from ("```python", _signature(held, getattr(value, held)), "```", "")
        yield _documented(one if isinstance(one, property) else getattr(value, held))


def _members(kind: type) -> Iterator[tuple[str, object]]:
    """Public methods and properties of p4cc's own classes, in the order of the code."""
    own = [base for base in reversed(kind.__mro__) if base.__module__.startswith("p4cc.")]
    found = {name: one for base in own for name, one in vars(base).items() if not name.startswith(("_", "model_"))}
    for name, one in found.items():
        if isinstance(one, property | classmethod | staticmethod) or inspect.isfunction(one):
            yield name, one


def _signature(name: str, value: Callable[..., object]) -> str:
    """A call as one would write it, a parameter on each line where it is long."""
    try:
        found = inspect.signature(value)
    except ValueError:
        # Classes of the engine say nothing of theirs.
        return f"{name}(...)"
    shown = [one for one in found.parameters.values() if one.name != "self"]
    texts = [str(one).replace("'", "") for one in shown]
    starred = next((place for place, one in enumerate(shown) if one.kind is one.KEYWORD_ONLY), None)
    if starred is not None and not any(one.kind is one.VAR_POSITIONAL for one in shown):
        texts.insert(starred, "*")
    returns = found.return_annotation
    end = "" if returns in (found.empty, None, "None") or inspect.isclass(value) else f" -> {returns}".replace("'", "")
    name = f"async {name}" if inspect.iscoroutinefunction(value) else name
    line = f"{name}({', '.join(texts)}){end}"
    return line if len(line) <= TEXT_WIDTH else f"{name}(\n" + "".join(f"    {text},\n" for text in texts) + f"){end}"


def _documented(value: object) -> str:
    return inspect.getdoc(value) or ""


PAGES: Mapping[str, Callable[[], str]] = {
    "reference/scenario.md": scenario_page,
    "reference/parameters.md": algorithms_page,
    "reference/command-line.md": command_line_page,
    "reference/python.md": python_page,
}
