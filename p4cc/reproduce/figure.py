"""A figure of a study to run: its scenario's file and its claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from p4cc.reproduce.study import StudyFigure
    from p4cc.scenario.claims import Reproduction
    from p4cc.scenario.schema import ScenarioModel


@dataclass(frozen=True)
class Figure:
    """A figure of a study: its scenario's file and its claims."""

    entry: StudyFigure
    path: Path
    scenario: ScenarioModel
    reproduction: Reproduction

    @property
    def name(self) -> str:
        """As the source counts it."""
        return self.reproduction.figure
