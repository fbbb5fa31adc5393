"""The names and lines that stand for commands until one is called are those of the commands themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

from p4cc.cli import app, whole_command
from p4cc.commands.listed import LISTED, ListedGroup

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = ROOT / "p4cc" / "commands"


def test_each_line_is_the_first_paragraph_of_the_commands_help() -> None:
    own = {name: command.help or "" for name, command in whole_command().commands.items()}
    first = {name: " ".join(text.partition("\n\n")[0].split()) for name, text in own.items()}
    assert {one.name: one.about for one in LISTED} == first


def test_each_command_of_a_module_is_listed() -> None:
    found: set[str] = set()
    for path in COMMANDS.glob("*.py"):
        if "\ndef register(" not in path.read_text(encoding="utf-8"):
            continue
        module = typer.Typer()
        import_module(f"p4cc.commands.{path.stem}").register(module)
        names = set(typer.main.get_group(module).commands)
        assert names == {one.name for one in LISTED if one.module == path.stem}
        found |= names
    assert found == {one.name for one in LISTED}


def test_a_command_that_is_named_is_imported_and_the_others_are_not() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, ListedGroup)
    context = typer.Context(group, info_name="p4cc")
    name, command, rest = group.resolve_command(context, ["topo", "star.yaml"])
    assert (name, rest) == ("topo", ["star.yaml"])
    assert command is not None
    assert {"scenario", "png"} <= {one.name for one in command.params}
    assert [other for other, one in group.commands.items() if one.params] == ["topo"]


@pytest.mark.parametrize(
    ("shell", "words", "expected"),
    [
        ("bash", "p4cc tr", "trace-packet"),
        ("fish", "p4cc lsp", "lsp\tServe an editor over the Language Server..."),
        ("bash", "p4cc topo --p", "--png"),
        ("bash", "p4cc controller inst", "install"),
        ("bash", "p4cc lab --switch b", "bmv2"),
    ],
)
def test_shells_complete_commands_and_their_options(shell: str, words: str, expected: str) -> None:
    asked = {
        "_P4CC_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [str(Path(sys.executable).with_name("p4cc"))],
        env={**os.environ, **asked},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == expected
