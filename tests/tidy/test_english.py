"""Texts that users read contain none of the turns of phrase that we once wrote and nobody says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc.algorithms import registry
from p4cc.cli import whole_command
from p4cc.scenario import parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from p4cc.json_data import JsonValue

WRONG = re.compile(
    r"(?<!there )\bis no (?!longer\b|more\b|later\b)|\bof the (?:user|program)'s\b|\btells? of\b|\bas \w+ has it\b"
    r"|\bmend(?:s|ed)?\b|\bof them so many\b|\btold of\b"
)
ROOT = Path(__file__).resolve().parents[2]
WRONG_IN_PAGES = re.compile(
    r"(?<![Tt]here )\bis no (?!longer\b|more\b|later\b)|\bof the user's(?! [a-z])|\btells? of\b|\bas \w+ has it\b"
    r"|\bmend(?:s|ed)?\b|\btold of\b|\bbeside\b|\bgoes on\b|\bstands\b"
)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
HISTORY = re.compile(r"^\| 20\d\d-.*$", re.MULTILINE)
"""Rows of pages of studies with earlier wordings of claims."""


def schema_texts(node: JsonValue, place: str = "schema") -> Iterator[tuple[str, str]]:
    """Every description of the scenario's JSON Schema, with its place."""
    if isinstance(node, dict):
        if isinstance(text := node.get("description"), str):
            yield place, text
        for key, value in node.items():
            yield from schema_texts(value, f"{place}.{key}")
    elif isinstance(node, list):
        for value in node:
            yield from schema_texts(value, place)


def help_texts(command: Any, place: str = "p4cc") -> Iterator[tuple[str, str]]:
    """The help of a command, of its options, and of the commands in it."""
    yield place, command.help or ""
    for parameter in command.params:
        yield f"{place} {parameter.name}", getattr(parameter, "help", None) or ""
    for name, one in getattr(command, "commands", {}).items():
        yield from help_texts(one, f"{place} {name}")


def algorithm_texts() -> Iterator[tuple[str, str]]:
    """The summaries of algorithms and of their parameters."""
    for entry in registry():
        yield entry.name, entry.summary
        yield from ((f"{entry.name}.{one.name}", one.summary) for one in entry.parameters)


def test_the_expression_finds_what_it_is_for() -> None:
    for text in ("it is no file", "headers of the user's", "a switch tells of its queue", "as X has it", "mend it"):
        assert WRONG.search(text), text
    for text in ("there is no file", "it is no longer there", "the user's headers", "recommended"):
        assert not WRONG.search(text), text


def test_texts_at_the_terminal_are_idiomatic() -> None:
    texts = [*schema_texts(parts.schema()), *help_texts(whole_command()), *algorithm_texts()]
    assert len(texts) > 1_000
    wrong = [f"{place}: {text}" for place, text in texts if WRONG.search(text)]
    assert not wrong, "write it as a native reader would (CONTRIBUTING.md):\n" + "\n".join(wrong)


def test_pages_are_idiomatic() -> None:
    # The study of GST is still worked on, and the roadmap is notes.
    left_out = {ROOT / "docs/roadmap.md", ROOT / "docs/reproduction/gst.md", ROOT / "experiments/gst/README.md"}
    pages = {*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("experiments/*/*.md")} - left_out
    wrong = [
        f"{page.relative_to(ROOT)}: {found.group()}: {text[max(0, found.start() - 40) : found.end() + 40]!r}"
        for page in sorted(pages - {ROOT / "CHANGELOG.md"})
        for text in [HISTORY.sub("", CODE.sub("", page.read_text(encoding="utf-8")))]
        for found in WRONG_IN_PAGES.finditer(text)
    ]
    assert not wrong, "write it as a native reader would (CONTRIBUTING.md):\n" + "\n".join(wrong)
