"""Place of a warning about a scenario: file, line and column, as in errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from p4cc.scenario.schema import ScenarioModel

if TYPE_CHECKING:
    from p4cc.scenario.base import Location
    from p4cc.scenario.expand import Case
    from p4cc.scenario.findings import Places

_FIELD = re.compile(r"([a-z_]+(?:\.\w+|\[\d+\])*)(?= |:)")
_STEP = re.compile(r"\w+")


def with_place(warning: str, case: Case, places: Places) -> str:
    """A warning of a case's plan with its place in front.

    The place is the field that the text begins with, the thresholds for one about ports, otherwise the variant.
    """
    return f"{places.of(_location(warning, case))}: {warning}"


def _location(warning: str, case: Case) -> Location:
    found = _FIELD.match(warning)
    if found is not None:
        steps: Location = tuple(int(step) if step.isdecimal() else step for step in _STEP.findall(found[1]))
        if steps[0] in ScenarioModel.model_fields:
            return steps
    number = [variant.name for variant in case.scenario.variants].index(case.variant.name)
    if warning.startswith("port "):
        return ("switch", "thresholds") if case.variant.thresholds is None else ("variants", number, "thresholds")
    return ("variants", number)
