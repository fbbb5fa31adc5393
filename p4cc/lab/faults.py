"""Faults of a scenario in a lab, at their times: links go down and up, switches stop and restart.

A link goes down by one of its interfaces (`ip link set down`); a switch goes down with all its links, and the lab's
controller installs it again (p4cc.lab.live).
"""

from __future__ import annotations

import subprocess
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p4cc.digits import digits
from p4cc.errors import UserError
from p4cc.lab.report import FaultReport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from p4cc.lab.clock import LabClock
    from p4cc.lab.processes import Program
    from p4cc.lab.report import LabReport
    from p4cc.scenario.faults import Fault
    from topos.lab import LabEnd, LabLink, LabNetwork

_NEVER = 1 << 63


@dataclass(frozen=True)
class Parts:
    """The parts of a lab that can fail, and where faults are reported."""

    links: Mapping[str, LabLink]
    """By the interface in the root namespace."""
    programs: Mapping[str, Program]
    """By switch."""
    report: LabReport
    say: Callable[[str], None]


def links_by_interface(network: LabNetwork, interfaces: Mapping[LabEnd, str]) -> dict[str, LabLink]:
    """Links by their interface in the root namespace."""
    return {interfaces[link.a if link.a.port is not None else link.b]: link for link in network.links}


class FaultSchedule:
    """A thread that makes the faults of a lab."""

    def __init__(self, parts: Parts, faults: Sequence[Fault], clock: LabClock) -> None:
        self._parts = parts
        self._faults = faults
        self._clock = clock
        self._ended = threading.Event()
        self._down_links: set[str] = set()
        self._down_switches: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="lab faults", daemon=True)
        self._restarts: list[threading.Thread] = []
        self._thread.start()

    def end(self) -> None:
        """Stops making faults."""
        self._ended.set()
        for thread in (self._thread, *self._restarts):
            thread.join()

    def _work(self) -> None:
        times = {time for one in self._faults for time in (one.down_ns, one.up_ns) if time is not None}
        for at_ns in sorted(times):
            if self._ended.wait(max(0, at_ns - self._clock.now_ns()) / 1e9):
                return
            try:
                self._change(at_ns)
            except (UserError, OSError, subprocess.SubprocessError) as error:
                self._parts.report.failed.append(f"a fault at {at_ns} ns: {error}")

    def _change(self, at_ns: int) -> None:
        """Brings links and switches into their states of an instant."""
        now = [one for one in self._faults if one.down_ns <= at_ns < (one.up_ns or _NEVER)]
        switches = {one.switch for one in now if one.switch is not None}
        pairs = {frozenset(one.between) for one in now if one.between is not None}
        links = {
            name
            for name, link in self._parts.links.items()
            if frozenset((link.a.node, link.b.node)) in pairs or {link.a.node, link.b.node} & switches
        }
        for switch in sorted(switches - self._down_switches):
            program = self._parts.programs[switch]
            program.keeps_running = False
            program.kill()
            self._say(at_ns, f"{switch} goes down")
        for name in sorted(links ^ self._down_links):
            _set(name, up=name not in links)
            self._say(at_ns, f"link {self._shown(name)} {'goes down' if name in links else 'comes up'}")
        for switch in sorted(self._down_switches - switches):
            program = self._parts.programs[switch]
            program.start()
            program.keeps_running = True
            self._say(at_ns, f"{switch} is started again")
            restart = threading.Thread(target=self._shape, args=(switch,), name=f"lab restart of {switch}", daemon=True)
            restart.start()
            self._restarts.append(restart)
        self._down_links, self._down_switches = links, switches

    def _shape(self, switch: str) -> None:
        """Shapes the links of a switch that answers again."""
        again = self._parts.programs[switch].after_restart
        try:
            if again is not None:
                again()
        except UserError as error:
            self._parts.report.failed.append(f"{switch}: {error}")

    def _shown(self, name: str) -> str:
        link = self._parts.links[name]
        return f"{link.a.node}-{link.b.node}"

    def _say(self, at_ns: int, what: str) -> None:
        late_ns = max(0, self._clock.now_ns() - at_ns)
        self._parts.report.faults.append(FaultReport(at_ns=at_ns, late_ns=late_ns, what=what))
        self._parts.say(f"{digits(at_ns / 1e6, 6)} ms: {what}")


def _set(interface: str, *, up: bool) -> None:
    """Takes an interface down or up; raises UserError."""
    words = ["ip", "link", "set", "dev", interface, "up" if up else "down"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UserError(
            done.stderr.strip(), place=" ".join(words), remedy="see that nobody else changes the lab's links"
        )
