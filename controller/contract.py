"""What a program must have for each of p4cc's features: tables, keys, actions and parameters with their widths.

A feature is recognised by its tables in the P4Info, in whatever control of the program they stand: the controls of
`#include <p4cc/...>` have them, and a program may declare them itself. Pure, no I/O.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from finsy import P4Schema

from controller.errors import PlanError
from controller.shape import Shape, Widths, shape_of

PORT_BITS = 9
DEPTH_BITS = 19


@dataclass(frozen=True)
class TableContract:
    """A table; names are relative to the control that the feature stands in."""

    name: str
    keys: Widths
    actions: Mapping[str, Widths]
    """Parameters of each action."""
    ranges: Widths = field(default_factory=dict[str, int])
    """Keys that match ranges; `keys` match exactly."""

    def lacks(self, shape: Shape, instance: str) -> Iterator[str]:
        """What a program's table in this control has not, as clauses of a message."""
        table = shape.tables.get(f"{instance}.{self.name}")
        if table is None:
            yield f"table {instance}.{self.name} is missing"
            return
        where = f"table {table.name} is there"
        for wanted, kind in ((self.keys, "exact"), (self.ranges, "range")):
            found = {name: bits for name, (match, bits) in table.keys.items() if match == kind}
            for key, bits in wanted.items():
                if found.get(key) != bits:
                    yield f"{where}, {_key(key, kind, found.get(key), bits)}"
        if more := [name for name in table.keys if name not in (*self.keys, *self.ranges)]:
            yield f"{where}, its key {', '.join(more)} is unknown to the feature"
        for name, params in self.actions.items():
            has = table.actions.get(f"{instance}.{name}")
            if has is None:
                yield f"{where}, it lacks action {name}"
                continue
            for param, bits in params.items():
                if has.get(param) != bits:
                    yield f"{where}, its action {name} {_lacks_param(param, has.get(param), bits)}"
            if more := [param for param in has if param not in params]:
                yield f"{where}, its action {name} takes {', '.join(more)} besides"


@dataclass(frozen=True)
class Feature:
    """A feature: its name is that of the file to include; the first table is what it is known by."""

    name: str
    own: str
    """The control's instance in p4cc's own programs."""
    tables: tuple[TableContract, ...]
    counters: tuple[str, ...] = ()

    @property
    def own_tables(self) -> frozenset[str]:
        """Whole names in p4cc's own programs."""
        return frozenset(f"{self.own}.{table.name}" for table in self.tables)

    def names(self, instance: str) -> Iterator[tuple[str, str]]:
        """Whole names in p4cc's own programs, and those in a program where the feature stands in `instance`."""
        relative = [name for table in self.tables for name in (table.name, *table.actions)]
        for name in (*relative, *self.counters):
            yield f"{self.own}.{name}", f"{instance}.{name}"


_PORT: Widths = {"egress_port": PORT_BITS}

_GAINS: Widths = {"load": 31, "queue": 31, "depth_bytes": 12, "framing": 8}

FEATURES = (
    Feature(
        "ecn_dual",
        "egress.ecn",
        (
            TableContract("thresholds", _PORT, {"set_thresholds": {"k": DEPTH_BITS, "k_dc": DEPTH_BITS}}),
            TableContract("codepoint_map", {"level": 2, "ecn": 2}, {"set_codepoint": {"ecn": 2}}),
        ),
        ("level_packets",),
    ),
    Feature(
        "ecn_red",
        "egress.red",
        (TableContract("curves", _PORT, {"set_curve": {"low": DEPTH_BITS, "high": DEPTH_BITS, "rise": 32}}),),
    ),
    Feature(
        "ecn_red_steps",
        "egress.red",
        (
            TableContract(
                "steps",
                _PORT,
                {"set_probability": {"p": 16}, "set_always": {}},
                {"queue_depth": DEPTH_BITS},
            ),
        ),
    ),
    Feature(
        "int_hpcc",
        "egress.telemetry",
        (
            TableContract(
                "ports",
                _PORT,
                {"set_port": {"id": 12, "rate": 4, "shift": 3, "cells": 8, "framing": 8, "hops": 4}},
            ),
        ),
    ),
    Feature(
        "ack_priority",
        "ingress.ack_priority",
        (TableContract("priorities", {"is_control": 1, "traffic_class": 3}, {"set_priority": {"value": 3}}),),
    ),
    Feature(
        "spray",
        "ingress.spray",
        (TableContract("gaps", {"ether_type": 16}, {"set_gap": {"ticks": 32}}),),
    ),
    Feature(
        "d3",
        "egress.allocator",
        (
            TableContract(
                "ports",
                _PORT,
                {
                    "set_port": {"least": 32, "rate": 32, "shift": 6},
                    "set_port_as_published": {"least": 32, "rate": 32, "shift": 6},
                },
            ),
            TableContract(
                "estimate.measured",
                _PORT,
                {"estimate.set_estimate": {"lowest": 32, "t": 32, "speed": 32, **_GAINS}},
            ),
            TableContract("rule.reciprocals", {"flows": 16}, {"rule.set_reciprocal": {"value": 32}}),
        ),
    ),
    Feature(
        "dualpi2",
        "egress.dualpi2",
        (
            TableContract(
                "ports",
                _PORT,
                {
                    "set_port": {
                        "target": 32,
                        "t": 32,
                        "alpha": 32,
                        "beta": 32,
                        "decay": 32,
                        "l4s_step": 32,
                        "coupling": 4,
                    }
                },
            ),
        ),
        ("signals",),
    ),
    Feature(
        "bolt",
        "ingress.bolt",
        (
            TableContract(
                "ports",
                _PORT,
                {
                    "set_port": {
                        "rate": 32,
                        "speed": 32,
                        "threshold": 32,
                        "size": 16,
                        "unit": 12,
                        "framing": 8,
                        "places": 16,
                        "room": 1,
                        "early": 1,
                    }
                },
            ),
        ),
    ),
    Feature(
        "rcp",
        "egress.rcp",
        (
            TableContract(
                "ports",
                _PORT,
                {"set_port": {"c": 32, "initial": 32, "lowest": 32, "t": 32, "speed": 32, **_GAINS}},
            ),
        ),
    ),
    Feature(
        "rcp_stamp",
        "egress.rcp",
        (TableContract("stamped", _PORT, {"set_rate": {"fair": 32, "framing": 8}}),),
    ),
    Feature(
        "d3_stamp",
        "egress.allocator",
        (TableContract("stamped", _PORT, {"set_share": {"rate": 32, "most": 32, "fair": 32, "number": 32}}),),
    ),
)


@dataclass(frozen=True)
class Found:
    """What a program has of the features."""

    tables: frozenset[str]
    """Its tables; those of its features under their names in p4cc's own programs."""
    names: Mapping[str, str]
    """Names in p4cc's own programs to those in this one, where they differ."""
    lacks: tuple[str, ...] = ()
    """Features of which something is there and something is missing."""


def find_features(schema: P4Schema) -> Found:
    """The features of a program by its P4Info; raises PlanError where one stands there twice."""
    return features_in(shape_of(schema))


def features_in(shape: Shape) -> Found:
    """The features of a program; raises PlanError where one stands there twice."""
    tables = set(shape.tables)
    tables -= frozenset[str]().union(*(feature.own_tables for feature in FEATURES))
    names: dict[str, str] = {}
    near: dict[str, list[str]] = {}
    recognised: set[str] = set()
    for feature in FEATURES:
        found: list[str] = []
        for instance in _instances(shape, feature):
            lacks = tuple(_lacks(shape, feature, instance))
            if not lacks:
                found.append(instance)
            else:
                near.setdefault(instance, []).append(f"feature {feature.name}: {lacks[0]}")
        if len(found) > 1:
            cause = f"feature {feature.name} is there {len(found)} times: {', '.join(found)}"
            raise PlanError("P4 program", cause, "apply the control in one place only")
        if found:
            recognised.add(found[0])
            tables |= feature.own_tables
            names.update(pair for pair in feature.names(found[0]) if pair[0] != pair[1])
    lacks = tuple(text for instance, texts in near.items() if instance not in recognised for text in texts)
    return Found(frozenset(tables), names, lacks)


def _instances(shape: Shape, feature: Feature) -> Iterator[str]:
    """Controls of a program that have the feature's first table, with an action of its name."""
    first = feature.tables[0]
    for table in shape.tables.values():
        instance, _, last = table.name.rpartition(".")
        wanted = {f"{instance}.{name}" for name in first.actions}
        if instance and last == first.name and wanted & table.actions.keys():
            yield instance


def _lacks(shape: Shape, feature: Feature, instance: str) -> Iterator[str]:
    for table in feature.tables:
        yield from table.lacks(shape, instance)
    for counter in feature.counters:
        if f"{instance}.{counter}" not in shape.counters:
            yield f"counter {instance}.{counter} is missing"


def _key(name: str, kind: str, has: int | None, bits: int) -> str:
    if has is None:
        return f"it lacks {kind} key {name}"
    return f"its key {name} has {has} bits where {bits} are needed"


def _lacks_param(name: str, has: int | None, bits: int) -> str:
    return f"lacks parameter {name}" if has is None else f"has {has} bits for {name} where {bits} are needed"
