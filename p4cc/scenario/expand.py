"""A scenario with sweeps to the list of cases that run: one per variant and point, each a scenario without sweeps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from p4cc.scenario.overrides import apply_overrides, set_path
from p4cc.scenario.schema import Scenario, Thresholds, Variant

Check = Callable[[dict[str, Any]], Scenario]


@dataclass(frozen=True)
class Case:
    """One configuration: it is built and installed once and run for every seed."""

    index: int
    variant: Variant
    point: dict[str, Any]
    """Swept field to its value here."""
    scenario: Scenario
    """With the point's values in place; its `variants` and `sweep` are those of the whole."""

    @property
    def thresholds(self) -> Thresholds:
        """The variant's own thresholds, or the switches'."""
        return self.variant.thresholds or self.scenario.switch.thresholds

    def label(self) -> str:
        """For people: `GST-DCTCP senders=16`."""
        values = " ".join(f"{path.rsplit('.', 1)[-1]}={value}" for path, value in self.point.items())
        return f"{self.variant.name} {values}".strip()


def expand(data: dict[str, Any], scenario: Scenario, check: Check) -> list[Case]:
    """All cases, points outermost, variants in the scenario's order; `check` validates each point's data."""
    cases: list[Case] = []
    paths = list(scenario.sweep)
    for values in itertools.product(*scenario.sweep.values()):
        point = dict(zip(paths, values, strict=True))
        at_point = apply_overrides(data, [])
        for path, value in point.items():
            set_path(at_point, path, value)
        checked = check(at_point)
        for variant in checked.variants:
            cases.append(Case(len(cases), variant, point, checked))
    return cases
