"""Programs of p4cc's as a plan takes them, by their committed P4Info."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from controller import plan_network
from controller.pipeline import load_pipeline
from controller.plan import SwitchProgram
from controller.roles import Roles, TablePart, roles_of
from controller.route_table import said_routes
from tests.switchd.namespaces import ROOT

if TYPE_CHECKING:
    from controller import SwitchPlan
    from topos import Topology


@cache
def roles(*names: str) -> Roles:
    """The roles of the tables of these programs, as if they were one."""
    tables: dict[str, TablePart] = {}
    counters: dict[str, str] = {}
    for name in names:
        text = (ROOT / "p4src" / "golden" / f"{name}.p4info.txtpb").read_text(encoding="utf-8")
        found = roles_of(load_pipeline(text, b"program").schema)
        tables |= found.tables
        counters |= found.counters
    return Roles(tables, counters)


def planned(
    topology: Topology,
    *args: Any,
    program: SwitchProgram | None = None,
    names: tuple[str, ...] = ("ecn_dual",),
    **more: Any,
) -> tuple[SwitchPlan, ...]:
    """A network's plan with one program on every switch."""
    programs = dict.fromkeys(topology.switch_names, program or SwitchProgram(roles(*names), said_routes(roles(*names))))
    return plan_network(topology, *args, programs=programs, **more)
