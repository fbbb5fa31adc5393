"""The scenario for Python programs: read from a file, built from objects, changed, and checked like a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from p4cc.bundled import find_scenario
from p4cc.scenario.load import check_network, validate
from p4cc.scenario.overrides import apply_overrides, assignments
from p4cc.scenario.schema import ScenarioModel
from p4cc.scenario.yaml import document_of, read_document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from p4cc.json_data import JsonObject, JsonValue
    from p4cc.scenario.overrides import Origins
    from p4cc.scenario.yaml import Document

_MADE = "scenario of Python"
"""Appears in messages in place of a file name."""


class Scenario(ScenarioModel):
    """One experiment: what to build, send, compare and draw.

    `p4cc.parts` has the parts; fields, units and defaults are those of a scenario file (docs/reference/scenario.md). A
    scenario is immutable: `with_` returns a changed copy. Raises UserError for invalid values.
    """

    @classmethod
    def load(cls, name: str | Path, changes: JsonObject | None = None, **overrides: JsonValue) -> Self:
        """Loads the scenario of a file, or of an experiment such as `gst/incast`.

        `changes` maps dotted paths of fields to values; `overrides` are the same as keywords, with two underscores for
        the dot. Raises UserError.
        """
        path = find_scenario(name)
        return cls._checked(read_document(path), assignments(changes, overrides), path)

    @classmethod
    def over(cls, scenario: ScenarioModel) -> Self:
        """Wraps a scenario that was read from a file."""
        made = cls(**{name: getattr(scenario, name) for name in scenario.model_fields_set})
        made.keep_place(scenario.place)
        return made

    def with_(self, changes: JsonObject | None = None, **overrides: JsonValue) -> Self:
        """A changed copy of this scenario; arguments as for `load`. Raises UserError."""
        return self._checked(document_of(self.to_yaml(), self.place), assignments(changes, overrides), self.place)

    def check(self) -> Self:
        """Validates this scenario like a file: names of algorithms, and consistency of its parts.

        `p4cc.run` does so, too. Raises UserError with all problems.
        """
        return self.with_()

    @classmethod
    def _checked(cls, document: Document, overrides: Sequence[str], place: Path) -> Self:
        origins: Origins = {}
        found = validate(document, apply_overrides(document.plain(), list(overrides), origins), origins)
        if not found.sweep:
            # What is swept may be absent until it has a value.
            check_network(document, found, origins)
        found.keep_place(place.parent / _MADE)
        return cls.over(found)
