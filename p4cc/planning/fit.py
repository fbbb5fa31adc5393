"""Whether the switches give a sender the signals that it needs: marks, telemetry, rates.

Combinations without a sensible result are refused. Sensible experiments that the sender was not made for give a
warning with the remedy. Both look at the program's tables and at what is to be installed in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.bolt import BOLT_PORTS
from controller.d3 import D3_PORTS, D3_STAMPED
from controller.dualpi2 import DUALPI2_PORTS
from controller.ecn import THRESHOLDS
from controller.pint import PINT_PORTS
from controller.rcp import RCP_PORTS, RCP_STAMPED
from controller.red import CURVES, RED_STEPS, WRED_FILTER
from controller.telemetry import INT_PORTS
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from controller.planner import Thresholds
    from p4cc.scenario.base import Sender
    from p4cc.scenario.expand import Case
    from p4cc.scenario.schema import ScenarioModel

_TELEMETRY = "p4src/v1model/int_hpcc.p4"
_DUAL = "p4src/v1model/ecn_dual.p4"
_RED = "p4src/v1model/ecn_red.p4"
_DUAL_QUEUE = "p4src/v1model/dualpi2.p4"
ANSWERING_ROLES = {
    "rate_allocation": ((D3_PORTS, D3_STAMPED), "p4src/v1model/d3.p4"),
    "fair_rate": ((RCP_PORTS, RCP_STAMPED), "p4src/v1model/rcp.p4"),
    "queue_notices": ((BOLT_PORTS,), "p4src/v1model/bolt.p4"),
    "path_utilisation": ((PINT_PORTS,), "p4src/v1model/pint.p4"),
}
"""An algorithm's need, to the roles of tables of which a program must have one, and such a program."""
_ANSWERS = {"queue_notices": "queue notifications", "path_utilisation": "the utilisation of its path (PINT)"}
"""What of switches those algorithms need whose rate is not granted."""


@dataclass(frozen=True)
class Switches:
    """The signals that the switches of a case give."""

    program: str
    roles: frozenset[str]
    """Of the program's tables."""
    thresholds: Mapping[tuple[str, str], Thresholds]
    """By switch and neighbour, as they are to be installed."""
    bottleneck: tuple[str, str] | None
    own: bool = True
    """Whether the program is one of p4cc's, of which the tables say everything."""
    curve_is_step: bool = False
    """Whether the RED curve marks nothing below a depth and everything just above it."""

    @property
    def marks_by_threshold(self) -> bool:
        """Whether the program compares depths with K and K_dc."""
        return THRESHOLDS in self.roles

    @property
    def has_dual_queue(self) -> bool:
        """Whether the program keeps L4S apart and marks all packets that are capable of ECN."""
        return DUALPI2_PORTS in self.roles

    @property
    def marks_by_curve(self) -> bool:
        """Whether the program marks at random, by a RED curve."""
        return not self.roles.isdisjoint((CURVES, RED_STEPS, WRED_FILTER))


def check_sender(sender: Sender, switches: Switches, place: str) -> Iterator[str]:
    """Warnings about one sender; raises UserError where nothing sensible can come out."""
    for _, algorithm in sender.algorithms():
        match algorithm.entry and algorithm.entry.switch_needs:
            case "telemetry":
                _telemetry(algorithm.name, switches, place)
            case "rate_allocation" | "fair_rate" | "queue_notices" | "path_utilisation" as need:
                _answers(algorithm.name, need, switches, place)
            case "two_ecn_thresholds":
                yield from _both_levels(algorithm.name, switches, place)
            case "l4s_marks":
                yield from _l4s_marks(algorithm.name, switches, place)
            case "one_ecn_threshold":
                yield from _step_marks(algorithm.name, switches, place)
            case "random_ecn":
                yield from _random_marks(algorithm.name, switches, place)
            case _:
                continue


def check_pauses(sender: Sender, priorities: Iterable[int], scenario: ScenarioModel, place: str) -> Iterator[str]:
    """Warns of a paced sender whose packets may be lost, the last ones of a flow for good."""
    transport, buffer = scenario.rdma_transport, scenario.switch.buffer
    if sender.rate_control is None or transport is None or (transport.rto_ns or sender.transport.get("rto_ns")):
        return
    lossy = sorted(set(priorities) - set(buffer.lossless_priorities if buffer is not None else ()))
    if lossy:
        yield (
            f"{place}: {sender.rate_control.name} sends at priority {', '.join(map(str, lossy))}, which no switch "
            "pauses (PFC), and has no rto_ns, so a loss at the end of a flow is never recovered; add that priority "
            "to switch.buffer.lossless_priorities, or set rto_ns in the transport"
        )


def check_states(case: Case, file: Path) -> Iterator[str]:
    """Warns of senders without the attributes of `record.state`; raises UserError where no sender has any."""
    scenario, variant = case.scenario, case.variant
    if not scenario.record.state:
        return
    of_items = [item.sender for item in scenario.flow_items.values() if item.sender is not None]
    if _attributes([*scenario.variants, *of_items]) is None:
        cause = "record.state needs an algorithm in Python, but no sender here has one"
        remedy = "remove record.state: table windows already has windows, thresholds, alpha, delta and rates"
        raise UserError(cause, place=f"{file} at record.state", remedy=remedy)
    has = _attributes([variant, *of_items])
    if has is None:
        yield (
            f"case {case.label()}: {variant.name} has no attributes for record.state, because it is not a Python class"
        )
    elif missing := [name for name in scenario.record.state if name not in has]:
        yield f"case {case.label()}: record.state names {', '.join(missing)}, but no method of {variant.name} sets it"


def _attributes(senders: Iterable[Sender]) -> frozenset[str] | None:
    """The attributes of these senders' classes; None if none is a class."""
    found = [one.own.attributes.names for sender in senders for _, one in sender.algorithms() if one.own is not None]
    return frozenset[str]().union(*found) if found else None


def _telemetry(name: str, switches: Switches, place: str) -> None:
    if INT_PORTS not in switches.roles:
        cause = f"{name} needs telemetry (INT), but {switches.program} adds none"
        raise _refused(cause, _TELEMETRY, place, switches)


def _answers(name: str, need: str, switches: Switches, place: str) -> None:
    roles, path = ANSWERING_ROLES[need]
    if switches.roles.isdisjoint(roles):
        needed = _ANSWERS.get(need, "its rate")
        cause = f"{name} needs {needed} from switches, but {switches.program} has no table {roles[0]}"
        raise _refused(cause, path, place, switches)


def _both_levels(name: str, switches: Switches, place: str) -> Iterator[str]:
    if not switches.marks_by_threshold:
        cause = f"{name} needs two marking thresholds, but {switches.program} has none"
        raise _refused(cause, _DUAL, place, switches)
    yield from _unmarked(name, switches, place)


def _l4s_marks(name: str, switches: Switches, place: str) -> Iterator[str]:
    if switches.has_dual_queue:
        return
    if switches.own:
        yield (
            f"{place}: {name} shares its queues with all other traffic, because {switches.program} has no L4S "
            f"queue; run {_DUAL_QUEUE} for this variant (program) to get one"
        )
    yield from _step_marks(name, switches, place)


def _step_marks(name: str, switches: Switches, place: str) -> Iterator[str]:
    if switches.has_dual_queue:
        return
    if switches.marks_by_threshold:
        yield from _unmarked(name, switches, place)
    elif switches.marks_by_curve and switches.curve_is_step:
        return
    elif switches.marks_by_curve:
        yield (
            f"{place}: {name} expects marking above a threshold, but {switches.program} marks randomly along a RED "
            f"curve; to get a threshold, run {_DUAL} for this variant (program) or use a curve of no width (red)"
        )
    elif switches.own:
        raise _refused(f"{name} needs ECN marks, but {switches.program} does not mark", _DUAL, place, switches)


def _random_marks(name: str, switches: Switches, place: str) -> Iterator[str]:
    if switches.marks_by_curve or switches.has_dual_queue:
        return
    if switches.marks_by_threshold:
        yield from _unmarked(name, switches, place)
        yield (
            f"{place}: {name} expects random marking along a RED curve, but {switches.program} marks every packet "
            f"above a threshold; run {_RED} for this variant (program) to get a curve"
        )
    elif switches.own:
        raise _refused(f"{name} needs ECN marks, but {switches.program} does not mark", _RED, place, switches)


def _unmarked(name: str, switches: Switches, place: str) -> Iterator[str]:
    """The ports that never mark."""
    if not switches.thresholds:
        raise UserError(
            f"{name} needs ECN marks, but no port marks (k_rule: never)",
            place=place,
            remedy="choose a k_rule other than never in switch.thresholds or switch.ports",
        )
    if switches.bottleneck is not None and switches.bottleneck not in switches.thresholds:
        here, there = switches.bottleneck
        yield f"{place}: {name} needs ECN marks, but the bottleneck, the port from {here} to {there}, never marks"


def _refused(cause: str, path: str, place: str, switches: Switches) -> UserError:
    remedy = f"run {path} for all variants (switch.program) or for this one (program)"
    if not switches.own:
        remedy += f", or #include <p4cc/{path.rsplit('/', 1)[-1]}> in your program (docs/reference/features.md)"
    return UserError(cause, place=place, remedy=remedy)
