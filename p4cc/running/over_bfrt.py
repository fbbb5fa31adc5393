"""The controller's writes over BF Runtime: rows of the user, and curves of the chip's WRED filter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from controller.bfrt.wred import WRED
from controller.client import Target
from controller.defaults import DEFAULT_BFRT_CLIENT_ID
from controller.entities import Entry, Update, UpdateKind
from p4cc import _engine
from p4cc.errors import UserError
from p4cc.running.in_process import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.bfrt.program import Program
    from controller.entities import Entity
    from controller.plan import SwitchPlan
    from p4cc.planning.network import NetworkPlan


def _is_filter(entity: Entity) -> bool:
    """Whether only BF Runtime can write it."""
    return isinstance(entity, Entry) and entity.key.table == WRED


def over_p4runtime(plan: SwitchPlan) -> SwitchPlan:
    """The part of a plan that P4Runtime can write."""
    if WRED not in plan.scope.tables:
        return plan
    tables = tuple(table for table in plan.scope.tables if table != WRED)
    entities = tuple(entity for entity in plan.entities if not _is_filter(entity))
    return replace(plan, entities=entities, scope=replace(plan.scope, tables=tables))


async def install_over_bfrt(network: _engine.Network, plan: NetworkPlan) -> None:
    """Writes the rest of a plan after P4Runtime's part; raises ControllerError, UserError."""
    meant = [one for one in plan.switches if one.switch in plan.bfrt_rows or WRED in one.scope.tables]
    if not meant:
        return
    try:
        address = network.serve_bfrt()
    except _engine.ServerError as error:
        raise UserError(error.cause, place="BF Runtime server", remedy=error.remedy) from error
    try:
        await _install(address, meant, plan)
    finally:
        network.stop_bfrt_server()


async def _install(address: str, switches: Sequence[SwitchPlan], plan: NetworkPlan) -> None:
    # Importing its messages takes a while, and few runs need them.
    from controller.bfrt.client import BfrtServer

    async with BfrtServer(address).line() as line:
        # Most switches run the same program, whose tables are read once.
        known: dict[Program, Program] = {}
        for one in switches:
            target = Target(address, one.device_id, one.switch)
            async with line.session(target, PATIENCE_S) as session:
                await session.become_primary(DEFAULT_BFRT_CLIENT_ID)
                found = await session.program()
                running = known.setdefault(found, found)
                await session.ensure_pipeline(running)
                curves = [Update(UpdateKind.INSERT, entity) for entity in one.entities if _is_filter(entity)]
                if curves:
                    await session.write([curves], running)
                await session.write_rows(plan.bfrt_rows.get(one.switch, ()), running)
