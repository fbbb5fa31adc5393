"""The record of a run in the engine's description."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.planning.captures import plan_captures
from p4cc.planning.state_records import plan_program
from p4cc.planning.user_packets import plan_received
from p4cc.scenario.schema import sampling_ns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from finsy import P4Schema

    from p4cc import spec
    from p4cc.scenario.expand import Case
    from topos import Topology


def plan_record(
    case: Case, topology: Topology, rtt_ns: int, schema_of: Callable[[str], P4Schema], scenario: Path
) -> spec.RecordSpec:
    """`record` of a case whose longest round-trip time is `rtt_ns`; raises UserError."""
    record, headers = case.scenario.record, case.scenario.record.headers
    moments = {time for window in case.scenario.measure for time in (window.start_ns, window.end_ns)} - {0}
    return {
        "windows_interval_ns": sampling_ns(record.windows_interval_ns, rtt_ns),
        "state": record.state,
        "queues_interval_ns": sampling_ns(record.queues_interval_ns, rtt_ns),
        "queue_histogram_interval_ns": record.queue_histogram_interval_ns,
        "events": record.events,
        "rtts": record.rtts,
        "pauses": record.pauses,
        "packets_received": plan_received(record.packets_received, topology, scenario),
        "headers": None if headers is None else {"every": headers.every, "max_packets": headers.max_packets},
        "max_rows": record.max_rows,
        **plan_captures(case, topology),
        **plan_program(record, topology, schema_of, scenario),
        "checkpoints_ns": sorted(moments),
    }
