"""The driver of `p4cc run`, by `--serve`, `--live`, `--trace` and their options."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.extras import needs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.running.driver import Driver


@dataclass(frozen=True)
class DriverOptions:
    """Options of the command line, as they were given."""

    serve: str | None
    speed: str | None
    live: bool
    live_port: int
    traces: Sequence[str] | None
    trace_limit: int

    @property
    def are_given(self) -> bool:
        """Whether any says how the run is made."""
        return self.serve is not None or self.live or bool(self.traces)

    def driver(self) -> Driver:
        """The one that they name; raises UserError for what does not go together."""
        # Networks, and the page's server, take a while to import.
        if self.serve is not None and self.live:
            raise UserError("does not go with --serve", place="--live", remedy="leave out one of them")
        if self.speed is not None and self.serve is None and not self.live:
            raise UserError("is for --serve and --live", place="--speed", remedy="add one of them, or leave it out")
        if self.traces and (self.serve is not None or self.live):
            raise UserError("does not go with --serve or --live", place="--trace", remedy="leave out one of them")
        if self.serve is not None:
            from p4cc.running.server_run import ServedDriver

            return ServedDriver.parse(self.serve, self.speed or "1")
        return self._watched() if self.live else self._local()

    def _watched(self) -> Driver:
        with needs("--live", "live"):
            from p4cc.live.run import DEFAULT_SPEED, WatchedDriver
        from p4cc.running.server_run import parse_speed

        speed = DEFAULT_SPEED if self.speed is None else parse_speed(self.speed)
        if speed is None:
            raise UserError("epochs are for --serve", place="--speed", remedy="give a number, or max")
        return WatchedDriver(self.live_port, None if math.isinf(speed) else speed)

    def _local(self) -> Driver:
        from p4cc.running.local_driver import LocalDriver
        from p4cc.running.packet_trace import TraceRequest

        return LocalDriver(TraceRequest.parse(self.traces, self.trace_limit) if self.traces else None)
