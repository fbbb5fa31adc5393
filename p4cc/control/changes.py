"""Table entries that are written during a run, over the connection of the run's controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from finsy import P4ClientError

from controller.client import refusal
from controller.codec import from_entity, to_key, to_update
from controller.reconcile import diff
from p4cc.errors import UserError

if TYPE_CHECKING:
    from controller.entities import Entry
    from p4cc.control.line import SwitchLine


async def write_entry(line: SwitchLine, entry: Entry, place: str) -> None:
    """Modifies the entry with that match, or inserts it; raises UserError if the switch refuses."""
    schema = line.pipeline.schema
    try:
        held = [from_entity(message, schema) for message in await line.read([to_key(entry.key, schema)])]
        for batch in diff([entry], held, keeps_others=True):
            await line.write([to_update(update, schema) for update in batch])
    except P4ClientError as error:
        found = refusal(f"{place}: switch {line.plan.switch}", error)
        raise UserError(found.cause, place=found.place, remedy=found.remedy) from error
