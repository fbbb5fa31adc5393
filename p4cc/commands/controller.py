"""`p4cc controller`: the controller's own commands, which load when one of them or their help is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup

from controller.defaults import ABOUT
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from pathlib import Path

    from typer._click import Command


class _Verbs(TyperGroup):
    """A group that is empty until it is looked at: plans and networks take longer to import than all other commands."""

    _held: MutableMapping[str, Command]
    _is_filled = False

    @property
    def commands(self) -> MutableMapping[str, Command]:
        """By name, in the order of the help."""
        if not self._is_filled:
            self._is_filled = True
            self._held.update(_verbs())
        return self._held

    @commands.setter
    def commands(self, value: MutableMapping[str, Command]) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._held = value


def register(app: typer.Typer) -> None:
    """Adds the group."""
    group = typer.Typer(name="controller", cls=_Verbs, help=ABOUT, no_args_is_help=True, rich_markup_mode="markdown")
    app.add_typer(group)


def _verbs() -> MutableMapping[str, Command]:
    from controller.cli import app
    from controller.options import compilers, topology_readers
    from p4cc.commands.topo import scenario_topology

    topology_readers.update(dict.fromkeys((".yaml", ".yml"), scenario_topology))
    compilers.append(_compile)
    return typer.main.get_group(app).commands


def _compile(program: Path) -> tuple[bytes, bytes]:
    """P4Info and device config of a P4 program; raises UserError."""
    from p4cc.planning.programs import compile_program

    compiled = compile_program(program)
    if not compiled.ok:
        raise UserError(f"the P4 program does not compile\n{compiled.rendered}", place=str(program))
    return compiled.p4info_bytes(), compiled.device_config()
