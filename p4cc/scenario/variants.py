"""`--set variant=…`: senders by the registry's names in place of those that the scenario lists."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from p4cc.algorithms import Algorithm, registry
from p4cc.errors import UserError

if TYPE_CHECKING:
    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.scenario.base import Sender

PLAIN_SLOW_START = "standard"
"""The default slow start, which senders' names leave out."""

KINDS = ("congestion_avoidance", "slow_start", "rate_control", "receiver")


def named_variants(data: JsonObject, value: JsonValue) -> list[JsonObject]:
    """The variants that `value` names: one name, several with commas between them, or a list.

    A name is one of the scenario's variants, an algorithm, or a slow start and a congestion avoidance joined by `+`, as
    in `gst+d2tcp`. A variant made from algorithms keeps the parameters that the scenario gives to the same algorithm;
    a congestion avoidance also those of others that it has too, such as DCTCP's. Raises UserError for any other name.
    """
    names = value if isinstance(value, list) else str(value).split(",")
    return [_variant(data, str(name).strip()) for name in names]


def algorithm_name(sender: Sender) -> str:
    """The registry's names of a sender's algorithms, as `variant=` takes them: `dctcp`, `gst+reno`, `hpcc`."""
    avoidance = sender.rate_control or sender.congestion_avoidance
    chosen = (sender.slow_start, avoidance, sender.receiver)
    names = [one.name for one in chosen if one is not None and one.name != PLAIN_SLOW_START]
    return "+".join(names)


def _variant(data: JsonObject, name: str) -> JsonObject:
    given = data.get("variants")
    for variant in given if isinstance(given, list) else []:
        if isinstance(variant, dict) and variant.get("name") == name:
            return variant
    made: dict[str, JsonValue] = {"name": name}
    for part in name.split("+"):
        entry = _entry(part, name)
        if entry.kind in made:
            raise UserError(
                f"{name!r} names two {entry.kind} algorithms",
                place="--set variant",
                remedy="combine one slow start and one congestion avoidance, as in gst+dctcp",
            )
        made[entry.kind] = {"name": entry.name}
    if "receiver" in made:
        # It decides alone what senders send (docs/algorithms/receivers.md#sender).
        made.setdefault("rate_control", {"name": "fixed"})
    if "rate_control" not in made:
        # Reno is what slow starts without an avoidance of their own are studied with
        # (docs/algorithms/slow-start.md#slow-start-family).
        made.setdefault("congestion_avoidance", {"name": "reno"})
    return made


def _entry(part: str, name: str) -> Algorithm:
    entries = registry()
    for entry in entries:
        if entry.name == part:
            return entry
    names = [entry.name for entry in entries]
    close = difflib.get_close_matches(part, names, n=1)
    cause = f"unknown algorithm {part!r}" if part == name else f"unknown algorithm {part!r} in {name!r}"
    remedy = f"did you mean {close[0]!r}?" if close else f"algorithms: {', '.join(names)}"
    raise UserError(cause, place="--set variant", remedy=remedy)
