"""The transport of variants: the settings of transport that decide a comparison as much as an algorithm does.

Pure, and of plain data, so that scenarios about to run and those of results are read alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.json_data import mapping
from p4cc.scenario.variants import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from p4cc.json_data import JsonObject, JsonValue

ON_PURPOSE = "own_transports"
"""The field by which a scenario says that its variants differ in transport on purpose."""

_SHOWN = 4
"""Variants that are named for each value of a setting."""

_ONE_PACING = (
    "give all of them a rate_control over one `transport: {kind: rdma}` (dctcp_rate is DCTCP so, prague_paced Prague, "
    "a window of your own derives from RateAlgorithm)"
)
_ONE_VALUE = "give these once, in the scenario's transport, and leave them out of the variants"


def transport_of(scenario: JsonObject, variant: JsonObject) -> dict[str, str]:
    """Pacing, recovery, initial window, ACKs and receiver window of a variant, for people; defaults are filled in."""
    is_paced = variant.get("rate_control") is not None
    given = mapping(scenario.get("transport"))
    if is_paced and given.get("kind") != "rdma":
        given = mapping(scenario.get("paced"))
    fields = {**given, **mapping(variant.get("transport"))}
    if is_paced:
        return {
            "pacing": "paced packets",
            "recovery": str(fields.get("recovery", "go_back_n")),
            "initial window": "the algorithm's, at its first rate",
            "ACKs": f"{_acks(fields)}, class {fields.get('ack_class', 7)}",
            "receiver window": "none",
        }
    rwnd = fields.get("rwnd")
    return {
        "pacing": "windows, not paced",
        "recovery": str(fields.get("recovery", "sack")),
        # Folders of before the field was recorded ran with another default than today's.
        "initial window": _segments(fields["iw"]) if "iw" in fields else "not recorded",
        "ACKs": f"{_acks(fields)}, class of the data",
        "receiver window": "what path and queue hold" if rwnd is None else _segments(rwnd),
    }


def warning(senders: Mapping[str, tuple[JsonObject, JsonObject]]) -> str | None:
    """Says which settings differ between which variants, and how to give all of them the same; None if none do.

    `senders` has each variant with its scenario, both as plain data. Variants with one algorithm among them are
    compared for what else differs.
    """
    algorithms = [[variant.get(kind) for kind in KINDS] for _, variant in senders.values()]
    if all(one == algorithms[0] for one in algorithms):
        return None
    found = _differences({name: transport_of(*one) for name, one in senders.items()})
    if not found:
        return None
    said = "; ".join(
        f"{name}: " + ", ".join(f"{value} ({_some(variants)})" for value, variants in values.items())
        for name, values in found.items()
    )
    remedy = _ONE_PACING if "pacing" in found else _ONE_VALUE
    return (
        f"variants differ in transport, so that what tables and figures compare is transport as well as algorithm. "
        f"{said}. To compare algorithms, {remedy}; if it is meant, write `{ON_PURPOSE}: true`"
    )


def _differences(transports: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, list[str]]]:
    """Settings with more than one value, each value with the variants that have it."""
    found: dict[str, dict[str, list[str]]] = {}
    for variant, settings in transports.items():
        for name, value in settings.items():
            found.setdefault(name, {}).setdefault(value, []).append(variant)
    return {name: values for name, values in found.items() if len(values) > 1}


def _acks(fields: Mapping[str, JsonValue]) -> str:
    every, size = fields.get("ack_every") or 1, fields.get("ack_bytes")
    if size is not None:
        return f"one for {size} B" if every == 1 else f"one for {size} B or {every} packets"
    return "one for each packet" if every == 1 else f"one for {every} packets"


def _segments(count: JsonValue) -> str:
    return f"{count} segment{'' if count == 1 else 's'}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
