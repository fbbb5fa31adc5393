"""The exit codes that `p4cc --help` lists are those of the code, command by command."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from p4cc.cli import whole_command
from p4cc.exit_codes import ANSWER_NO, EVERYWHERE

P4CC = str(Path(sys.executable).with_name("p4cc"))


def _commands(group: Any, prefix: str = "") -> dict[str, Any]:
    """Callbacks by the command's words."""
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found.update(_commands(command, f"{prefix}{name} "))
        else:
            found[f"{prefix}{name}"] = command.callback
    return found


COMMANDS = _commands(whole_command())


def _codes(callback: Any) -> set[int]:
    """Codes of `typer.Exit` in a callback and in the functions of its module that it calls."""
    module = sys.modules[callback.__module__]
    functions = {
        node.name: node for node in ast.parse(inspect.getsource(module)).body if isinstance(node, ast.FunctionDef)
    }
    found: set[int] = set()
    waiting, seen = [callback.__name__], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        for node in ast.walk(functions[name]):
            if isinstance(node, ast.Name):
                waiting.append(node.id)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "typer.Exit":
                code = ast.unparse(node.args[0]) if node.args else "0"
                found.add(int(code) if code.isdigit() else int(getattr(module, code)))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_ends_with_the_codes_that_the_help_lists(command: str) -> None:
    codes = _codes(COMMANDS[command])
    assert codes <= set(EVERYWHERE)
    assert (1 in codes) == (command in ANSWER_NO), f"{command} ends with {codes}"


def test_the_help_lists_every_code_and_who_says_no() -> None:
    done = subprocess.run([P4CC, "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    for code, text in EVERYWHERE.items():
        assert f"{code}: {text}" in said
    for command, text in ANSWER_NO.items():
        assert f"{command}: {text}" in said
    assert set(ANSWER_NO) <= set(COMMANDS)
