"""Options of the paced transport that other options leave without effect: they are refused, not ignored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from p4cc.scenario.base import Location, Sender


@dataclass(frozen=True)
class _Option:
    has_effect: Callable[[Mapping[str, object]], bool]
    """Of all options of a sender."""
    cause: str
    remedy: str


def _is_acknowledged(fields: Mapping[str, object]) -> bool:
    return not fields["reads"]


_OPTIONS = {
    "cnp_processing_ns": _Option(
        lambda fields: fields["notification"] == "packet",
        "marks are echoed in ACKs (notification: ack_flag), so no card sends a CNP",
        "give notification: packet, or remove it",
    ),
    "ack_processing_ns": _Option(_is_acknowledged, "with reads there are no ACKs", "remove it, or reads"),
    "ack_bytes": _Option(_is_acknowledged, "with reads there are no ACKs", "remove it, or reads"),
    "entropy_values": _Option(
        lambda fields: fields["entropy"] != "flow",
        "each flow keeps one path (entropy: flow), so there are no values to choose from",
        "give another entropy, or remove it",
    ),
    "base_rtt_ns": _Option(
        lambda fields: fields["base_rtt"] != "pair",
        "base_rtt: pair takes each pair's own time",
        "remove it, or base_rtt: pair",
    ),
}


def options_without_effect(
    usual: Mapping[str, object], place: str, senders: Sequence[tuple[Location, Sender]]
) -> Iterator[tuple[Location, str, str]]:
    """Location, cause and remedy of each: in a sender's own transport, or in `usual`, all senders', if none uses it."""
    paced = [(location, sender.transport) for location, sender in senders if sender.rate_control is not None]
    for location, own in paced:
        for name in own:
            if said := _without_effect({**usual, **own}, name):
                yield (*location, "transport", name), *said
    for name in usual if paced else ():
        found = [_without_effect({**usual, **own, name: usual[name]}, name) for _, own in paced]
        if all(found) and (said := found[0]):
            yield (place, name), *said


def idle_in(fields: Mapping[str, object]) -> set[str]:
    """Options of the transport of all that a sender with these options does not use."""
    return {name for name, option in _OPTIONS.items() if name != "base_rtt_ns" and not option.has_effect(fields)}


def _without_effect(fields: Mapping[str, object], name: str) -> tuple[str, str] | None:
    """Cause and remedy where an option is given and has no effect."""
    option = _OPTIONS.get(name)
    if option is None or not fields[name] or option.has_effect(fields):
        return None
    return f"{name} has no effect: {option.cause}", option.remedy
