"""`p4cc controller`: the controller's own commands, with p4cc's compiler and scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.cli import app as controller_app
from controller.options import compilers, topology_readers
from p4cc.commands.topo import scenario_topology
from p4cc.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    import typer


def register(app: typer.Typer) -> None:
    """Adds the group."""
    topology_readers.update(dict.fromkeys((".yaml", ".yml"), scenario_topology))
    if _compile not in compilers:
        compilers.append(_compile)
    app.add_typer(controller_app)


def _compile(program: Path) -> tuple[bytes, bytes]:
    """P4Info and device config of a P4 program; raises UserError."""
    from p4cc.planning.programs import compile_program

    compiled = compile_program(program)
    if not compiled.ok:
        raise UserError(f"the P4 program does not compile\n{compiled.rendered}", place=str(program))
    return compiled.p4info_bytes(), compiled.device_config()
