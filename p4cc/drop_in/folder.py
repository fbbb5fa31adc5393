"""A folder of commands for PATH, under the names of p4c, BMv2 and p4runtime-shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from p4cc.drop_in.compiler import Tool
from p4cc.errors import UserError

_SWITCHES = {
    "psa_switch": "p4cc-switch",
    "psa_switch_CLI": "p4cc-switch-cli",
    "simple_switch": "p4cc-switch",
    "simple_switch_grpc": "p4cc-switch",
    "simple_switch_CLI": "p4cc-switch-cli",
}
"""BMv2's programs, and those that do their work: each knows by its name what it is called as."""

_COMMAND_LINES = ("psa_switch_CLI", "simple_switch_CLI")
"""Those that edit and complete lines at a terminal."""

_INNER = ".commands"
"""The folder of what they call, by the same names: the program behind them answers by its name, as BMv2's do."""

_SHELL = "p4runtime-sh"
"""The shell of p4lang's p4runtime-shell."""

MODULES = Path(__file__).parent / "modules"
"""Python modules that scripts for BMv2 import: P4Runtime's messages, and PI's."""

_DEBIAN = Path("/usr/lib/python3/dist-packages")
"""Where Debian puts Mininet, which is on no registry; an environment does not look there."""

_MARK = "# Made by `p4cc drop-in`.\n"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the folder."""

    name: str
    runs: str
    """What does its work."""
    shadowed: Path | None
    """The program of this name that PATH has without the folder."""


def commands(folder: Path) -> list[Command]:
    """What a folder would hold, in order of names."""
    runs = {tool.value: f"{sys.executable} -m p4cc.drop_in.compiler {tool.value}" for tool in Tool}
    runs |= {name: _program(program) for name, program in _SWITCHES.items()}
    runs |= {_SHELL: f"{sys.executable} -m p4cc.drop_in.shell"}
    return [Command(name, run, _elsewhere(name, folder)) for name, run in sorted(runs.items())]


def make(folder: Path, *, shadow: bool) -> list[Command]:
    """Makes the folder, or brings it up to date; answers the commands that it holds.

    A program of the same name elsewhere on PATH stays what the name calls, unless `shadow`. Raises UserError where the
    folder cannot be written, or holds files of others under these names.
    """
    made = [command for command in commands(folder) if shadow or command.shadowed is None]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = [folder / command.name for command in commands(folder)]
        names += [folder / _INNER / name for name in _COMMAND_LINES]
        for path in names:
            if not _is_ours(path):
                raise UserError(
                    "this file was not made by p4cc drop-in", place=str(path), remedy="choose another folder"
                )
        for path in names:
            path.unlink(missing_ok=True)
        for command in made:
            path = folder / command.name
            if command.name in _COMMAND_LINES:
                inner = folder / _INNER / command.name
                inner.parent.mkdir(exist_ok=True)
                inner.symlink_to(command.runs)
                path.write_text(_command_line(folder.resolve() / _INNER / command.name), encoding="utf-8")
            elif command.name in _SWITCHES:
                # A process is named after its file: `pkill simple_switch` ends what that name started.
                path.symlink_to(command.runs)
                continue
            else:
                path.write_text(_script(command), encoding="utf-8")
            path.chmod(0o755)
    except OSError as error:
        raise UserError(f"cannot write: {error.strerror}", place=str(folder), remedy="choose another folder") from error
    return made


def environment(folder: Path) -> dict[str, str]:
    """Variables of a shell that calls the folder's commands, and whose Python finds what scripts for BMv2 import.

    The tutorials' makefile calls `sudo`, which forgets variables, and gives it what `P4_EXTRA_SUDO_OPTS` has.
    """
    modules = [str(MODULES)]
    if find_spec("mininet") is None and (_DEBIAN / "mininet").is_dir():
        link = folder / "python" / "mininet"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(_DEBIAN / "mininet")
        modules.append(str(link.parent.resolve()))
    before = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part and part not in modules]
    path = [str(folder.resolve()), str(Path(sys.executable).parent)]
    rest = [part for part in os.get_exec_path() if part not in path]
    python_path = os.pathsep.join([*modules, *before])
    return {
        "PATH": os.pathsep.join([*path, *rest]),
        "PYTHONPATH": python_path,
        "P4_EXTRA_SUDO_OPTS": f"PYTHONPATH={python_path}",
    }


def _script(command: Command) -> str:
    """A script, since a name can be called from anywhere, and by sudo."""
    words = " ".join(shlex.quote(word) for word in command.runs.split(" "))
    return f'#!/bin/sh\n{_MARK}exec {words} "$@"\n'


def _command_line(program: Path) -> str:
    """A script that reads lines at a terminal by Python's `readline`, and leaves other input to the program."""
    python, words = shlex.quote(sys.executable), shlex.quote(str(program))
    typed = f'[ -t 0 ] && [ -t 1 ] && exec {python} -m p4cc.drop_in.typed {words} "$@"'
    return f'#!/bin/sh\n{_MARK}{typed}\nexec {words} "$@"\n'


def _is_ours(path: Path) -> bool:
    """Whether nothing has this name, or what an earlier call made."""
    if path.is_symlink():
        return path.readlink().name in _SWITCHES.values()
    return not path.exists() or _MARK in path.read_text(encoding="utf-8", errors="replace")


def _program(name: str) -> str:
    """The path of a program that p4cc installs next to Python."""
    path = Path(sys.executable).parent / name
    return str(path) if path.exists() else shutil.which(name) or str(path)


def _elsewhere(name: str, folder: Path) -> Path | None:
    """A program of this name that is not the folder's own."""
    others = [part for part in os.get_exec_path() if Path(part).resolve() != folder.resolve()]
    found = shutil.which(name, path=os.pathsep.join(others))
    return Path(found) if found else None
