"""A scenario with sweeps to the list of cases that run: one per variant and point, each a scenario without sweeps."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias

from p4cc.scenario.fabric import RedCurveSettings
from p4cc.scenario.overrides import Origins, apply_overrides, set_path
from p4cc.scenario.port_controls import PortControlChanges
from p4cc.scenario.programs import ProgramSource
from p4cc.scenario.schema import ScenarioModel, SwitchSettings, ThresholdSettings, Variant, header_bytes
from p4cc.scenario.topology import StarTopology
from p4cc.scenario.traffic_base import FlowTraffic, own_sender
from p4cc.scenario.variants import algorithm_name

if TYPE_CHECKING:
    from p4cc.json_data import JsonObject, JsonValue

Check: TypeAlias = "Callable[[dict[str, JsonValue], Origins], ScenarioModel]"
Key: TypeAlias = str | int | float | bool
"""A swept value, as it appears in results."""


@dataclass(frozen=True)
class Case:
    """One configuration, built and installed once and run for every seed."""

    index: int
    variant: Variant
    point: dict[str, JsonValue]
    """Swept field to its value here."""
    scenario: ScenarioModel
    """The scenario with this point's values; its `variants` and `sweep` are those of the original."""

    @property
    def thresholds(self) -> ThresholdSettings:
        """The variant's own thresholds, or the switches'."""
        return self.variant.thresholds or self.scenario.switch.thresholds

    @property
    def red(self) -> RedCurveSettings:
        """The variant's own RED curve, or the switches'."""
        return self.variant.red or self.scenario.switch.red

    @property
    def switch(self) -> SwitchSettings:
        """The switches' settings with those of the variant, except its thresholds and program."""
        names = (*PortControlChanges.model_fields, "ecn_profile", "flowlet_gap_ns")
        own = {name: getattr(self.variant, name) for name in names}
        given = {name: value for name, value in own.items() if value is not None}
        return self.scenario.switch.model_copy(update=given) if given else self.scenario.switch

    def priority_of(self, item: FlowTraffic) -> int:
        """The traffic class of an item's flows: the variant's own, or the item's."""
        own = self.variant.priority if item.sender is None else None
        return item.priority if own is None else own

    @property
    def packets(self) -> str:
        """The form of the variant's window packets on the wire."""
        return str(self._of_windows("packets", "udp"))

    @property
    def ip(self) -> int:
        """The IP version of the variant's windows."""
        return 6 if self._of_windows("ip", 4) == 6 else 4

    @property
    def header_bytes(self) -> int:
        """Bytes of the variant's data packets from IP to their payload, without user headers."""
        return header_bytes(self.packets, self.ip)

    def _of_windows(self, field: str, default: object) -> object:
        return self.variant.transport.get(field, getattr(self.scenario.transport, field, default))

    @property
    def program(self) -> str:
        """The variant's own P4 program, or the switches'."""
        return self.variant.program or self.scenario.switch.program

    @property
    def source(self) -> ProgramSource:
        """The P4 program of switches without another one."""
        switch = self.scenario.switch
        # P4Info belongs to one file, not to what a variant runs in its place.
        p4info = None if self.variant.program else switch.p4info
        return ProgramSource(
            program=self.program, include=switch.include, defines=switch.defines, p4info=p4info, strict=switch.strict
        )

    def source_of(self, switch: str) -> ProgramSource:
        """The P4 program of a switch."""
        found = [one for one in self.scenario.switch.programs if fnmatchcase(switch, one.switch)]
        return found[-1] if found else self.source

    @property
    def sources(self) -> list[ProgramSource]:
        """All P4 programs of the case, those of its variant first."""
        return [self.source, *self.scenario.switch.programs]

    def keys(self) -> dict[str, Key]:
        """The case's identity in results: variant, senders of a star, and every swept field by its last step."""
        topology = self.scenario.topology
        senders = {"senders": topology.senders} if isinstance(topology, StarTopology) else {}
        return {"variant": self.variant.name, **senders, **self._swept()}

    @property
    def algorithm(self) -> str:
        """The variant's algorithms by the registry's names."""
        return algorithm_name(self.variant)

    def algorithms(self) -> dict[str, str]:
        """The registry's names by those that the engine knows senders by: the variant's, and traffic's own."""
        items = self.scenario.flow_items.values()
        own = {own_sender(item): algorithm_name(item.sender) for item in items if item.sender is not None}
        return {self.variant.name: self.algorithm, **own}

    def label(self) -> str:
        """For people: `GST-DCTCP senders=16`."""
        values = " ".join(f"{name}={value}" for name, value in self._swept().items())
        return f"{self.variant.name} {values}".strip()

    def columns(self) -> dict[str, str]:
        """The field behind each key of results but the variant, by the name of its column."""
        swept = column_names(self.point)
        star = {"senders": "topology.senders"} if isinstance(self.scenario.topology, StarTopology) else {}
        return {**star, **swept}

    def _swept(self) -> dict[str, Key]:
        values = {name: self.point[path] for name, path in self.columns().items() if path in self.point}
        return {name: as_key(value) for name, value in values.items()}


_TAKEN = frozenset({"latency_ns", "operation", "schedule", "size_bytes"})
"""Final steps of field paths that are columns of a result table themselves (rounds, flows, collectives)."""


def column_names(paths: Iterable[str]) -> dict[str, str]:
    """Swept fields by the names of their columns in results: the last step, the path where that would be another's."""
    fields = list(paths)
    last_steps = [path.rsplit(".", 1)[-1] for path in fields]
    return {
        step if last_steps.count(step) == 1 and step not in _TAKEN else path: path
        for step, path in zip(last_steps, fields, strict=True)
    }


def as_key(value: JsonValue) -> Key:
    """A swept value for results: values that are not plain become JSON."""
    return value if isinstance(value, str | int | float | bool) else json.dumps(value)


def expand(data: JsonObject, scenario: ScenarioModel, check: Check, swept: Origins | None = None) -> list[Case]:
    """All cases, points outermost, variants in the scenario's order.

    `check` validates each point's data and learns which values came from the sweep; `swept` says which sweeps the
    command line asked for.
    """
    cases: list[Case] = []
    paths = list(scenario.sweep)
    for values in itertools.product(*scenario.sweep.values()):
        cases += cases_at(data, dict(zip(paths, values, strict=True)), check, swept, len(cases))
    return cases


def cases_at(
    data: JsonObject, point: dict[str, JsonValue], check: Check, swept: Origins | None = None, first: int = 0
) -> list[Case]:
    """The cases of one point, one per variant, numbered from `first` on; see `expand`."""
    at_point = apply_overrides(data, [])
    origins: Origins = {}
    for path, value in point.items():
        place = f"sweep {path}={json.dumps(value)}"
        if (origin := (swept or {}).get(("sweep", path), (swept or {}).get(("sweep",)))) is not None:
            place = f"{origin} at {path}={json.dumps(value)}"
        origins.update(dict.fromkeys(set_path(at_point, path, value, place), place))
    checked = check(at_point, origins)
    return [Case(number, variant, point, checked) for number, variant in enumerate(checked.variants, first)]
