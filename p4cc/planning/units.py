"""Units of the times and depths that programs see: the scenario's, or the chip's where a program is written for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from controller.errors import PlannerError
from controller.units import CELL_BYTES, CHIP_CELL_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from finsy import P4Schema

    from p4cc.scenario.schema import SwitchSettings

DepthUnit = Literal["packets", "cells_80B", "cells_176B", "bytes_80B"]
TimeUnit = Literal["us", "ns"]


@dataclass(frozen=True)
class Units:
    """Units by switch: Tofino counts nanoseconds and cells, whatever the scenario says."""

    settings: SwitchSettings
    packet_bytes: int
    """IP bytes of a full packet."""
    chips: Mapping[str, int] = field(default_factory=dict[str, int])
    """Bytes of a cell, by the switches whose program is for Tofino."""

    def time_unit(self, switch: str) -> TimeUnit:
        """Of time stamps."""
        return "ns" if switch in self.chips else self.settings.timestamp_unit

    def tick_ns(self, switch: str) -> int:
        """Of one unit of time."""
        return 1 if self.time_unit(switch) == "ns" else 1_000

    def common_tick_ns(self, switches: Iterable[str]) -> int:
        """Of one unit of time of all these switches; raises PlannerError where they differ."""
        ticks = {self.tick_ns(switch) for switch in switches}
        if len(ticks) > 1:
            cause = "some switches count in nanoseconds (their program is for Tofino), others in microseconds"
            raise PlannerError("timestamp_unit", cause, "set timestamp_unit: ns")
        return ticks.pop() if ticks else 1_000

    def depth_unit(self, switch: str) -> DepthUnit:
        """Of queue depths."""
        size = self.chips.get(switch)
        if size is None:
            return self.settings.qdepth_unit
        return "cells_80B" if size == CELL_BYTES else "cells_176B"

    def depth_bytes(self, switch: str) -> int:
        """Of one unit of queue depths."""
        if self.depth_unit(switch) == "packets":
            return self.packet_bytes
        return self.chips.get(switch, CELL_BYTES)

    def cells_of_packets(self) -> Mapping[str, int]:
        """Bytes of a cell, by the switches that count cells where the scenario says thresholds in packets."""
        return self.chips if self.settings.qdepth_unit == "packets" else {}


def chips_among(switches: Iterable[str], schema_of: Callable[[str], P4Schema]) -> dict[str, int]:
    """Bytes of a cell, by the switches whose program is for Tofino."""
    found = {switch: CHIP_CELL_BYTES.get(schema_of(switch).arch) for switch in switches}
    return {switch: size for switch, size in found.items() if size is not None}
