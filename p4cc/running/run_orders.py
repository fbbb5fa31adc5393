"""Orders for the runs of a case, for processes and machines that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.planning.memory import run_bytes
from p4cc.running.remote_runs import RunOrder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.running.driver import SharedByRuns
    from p4cc.running.planned_case import PlannedCase


def run_orders(planned: PlannedCase, keys: Mapping[int, str], shared: SharedByRuns) -> list[RunOrder]:
    """Orders for the runs with these keys, by seed."""
    case, inputs, memory_bytes = planned.case, {**shared.study.inputs, **planned.inputs}, run_bytes(planned.plan)
    return [
        RunOrder(
            *(shared.study, inputs, case.variant.name, case.point, seed, key),
            label=shared.purpose + planned.label(seed),
            memory_bytes=memory_bytes,
        )
        for seed, key in keys.items()
    ]
