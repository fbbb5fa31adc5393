"""An entry of a table that is written on a run's way, over the connection of the run's controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from finsy import P4ClientError
from finsy.proto import p4r

from controller.client import refusal
from controller.install_runtime import difference
from p4cc.errors import UserError

if TYPE_CHECKING:
    from p4cc.control.line import SwitchLine


async def write_entry(line: SwitchLine, entity: p4r.Entity, place: str) -> None:
    """Changes the entry of that match, or adds it; raises UserError where the switch refuses."""
    entry = entity.table_entry
    asked = p4r.Entity(
        table_entry=p4r.TableEntry(
            table_id=entry.table_id,
            match=entry.match,
            priority=entry.priority,
            is_default_action=entry.is_default_action,
        )
    )
    try:
        held = await line.read([asked])
        if updates := difference([entity], held):
            await line.write(updates)
    except P4ClientError as error:
        found = refusal(f"{place}: switch {line.plan.switch}", error)
        raise UserError(found.cause, place=found.place, remedy=found.remedy) from error
