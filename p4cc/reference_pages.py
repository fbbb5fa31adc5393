"""Reference pages that are made of the code when the site is built: scenario, algorithms, command line.

`PAGES` maps a page's path below docs/ to the function that gives its Markdown; docs/_site/hook.py calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

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
    yield "for an editor. [How to write a scenario](../how-to/write-a-scenario.md) shows the way."
    for name in parts.names():
        part = parts.find(name)
        yield from _part(f"## {name}", parts.text(part, TEXT_WIDTH))
        # A part of one kind only has its fields as steps, so it stands here whole already.
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
    yield "The registries of the engine, as `p4cc algorithms` lists them. The pages of"
    yield "[each family](../algorithms/README.md) have the formulas and the reasons."
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
            default = one.default_text() or "must be given"
            yield f"| `{one.name}` | {default} | {one.values()} | {_cell(one.summary)} | {one.source} |"


def _cell(text: str) -> str:
    """A text as it may stand in a cell of a table."""
    return text.replace("|", "\\|")


def command_line_page() -> str:
    """Every command with its arguments and options, as `--help` shows them."""
    import typer
    from typer.cli import get_docs_for_click

    from p4cc.cli import app

    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="p4cc")
    return get_docs_for_click(obj=command, ctx=context, name="p4cc", title="Command line")


PAGES: Mapping[str, Callable[[], str]] = {
    "reference/scenario.md": scenario_page,
    "reference/parameters.md": algorithms_page,
    "reference/command-line.md": command_line_page,
}
