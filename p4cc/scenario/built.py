"""The scenario as Python programs have it: read from a file, made of objects, changed, checked as a file is."""

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
"""Stands for the file in messages."""


class Scenario(ScenarioModel):
    """One experiment: what is built, what is sent, what is compared, what is drawn.

    `p4cc.parts` has the parts; fields, units and defaults are those of a scenario's file (docs/reference/scenario.md).
    Nothing changes after it was made: `with_` gives another. Raises UserError for values that cannot be.
    """

    @classmethod
    def load(cls, name: str | Path, changes: JsonObject | None = None, **overrides: JsonValue) -> Self:
        """The scenario of a file, or an experiment's such as `gst/incast`.

        `changes` are fields by their dotted paths, `overrides` the same as keywords with two underscores for the dot.
        Raises UserError.
        """
        path = find_scenario(name)
        return cls._checked(read_document(path), assignments(changes, overrides), path)

    @classmethod
    def over(cls, scenario: ScenarioModel) -> Self:
        """A scenario that was read, with what Python programs can do with it."""
        made = cls(**{name: getattr(scenario, name) for name in scenario.model_fields_set})
        made.keep_place(scenario.place)
        return made

    def with_(self, changes: JsonObject | None = None, **overrides: JsonValue) -> Self:
        """This scenario with changes, which are given as to `load`; raises UserError."""
        return self._checked(document_of(self.to_yaml(), self.place), assignments(changes, overrides), self.place)

    def check(self) -> Self:
        """This scenario as a file of it would be read: names of algorithms, and all that must fit together.

        `p4cc.run` does it too. Raises UserError with every finding.
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
