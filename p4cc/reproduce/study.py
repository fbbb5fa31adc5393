"""A study: the figures of one paper in their order, each a scenario, and claims over several of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, JsonValue, ValidationError

from p4cc.bundled import EXPERIMENTS
from p4cc.errors import UserError
from p4cc.reproduce.items import SourceItem
from p4cc.scenario.base import Model, dotted
from p4cc.scenario.claims import Reproduction
from p4cc.scenario.stated import Day, History
from p4cc.scenario.yaml import read_document

FILE = "reproduce.yaml"


class StudyFigure(Model):
    """One scenario of the study."""

    file: Annotated[str, Field(min_length=1, description="Scenario, relative to the study.")]
    on_request: bool = Field(default=False, description="Run only when asked for by --only, --all or --full.")
    full: dict[str, JsonValue] = Field(
        default={}, description="Dotted fields of the scenario to their values with --full."
    )


class LeagueTable(Model):
    """Variants against each other: a row each, with what the scenarios' `each_variant` measures as columns."""

    title: Annotated[str, Field(min_length=1)]
    note: str = Field(default="", description="What a reader of the table should know.")
    figures: Annotated[list[str], Field(min_length=1, max_length=16, description="Figures whose numbers it shows.")]


class Withdrawn(Model):
    """A number that was judged once and is judged no more."""

    number: Annotated[str, Field(min_length=1, description="FIGURE.NUMBER, as it was.")]
    date: Day
    """When it went."""
    why: Annotated[str, Field(min_length=1, description="The reason.")]


class Study(Model):
    """The content of `reproduce.yaml`."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
    title: str
    source: str
    citation: str = Field(default="", description="The source as a reader finds it; `source` if absent.")
    items: list[SourceItem] = Field(
        default=[], max_length=128, description="Figures, tables and numbers of the source, in its order."
    )
    figures: Annotated[list[StudyFigure], Field(min_length=1, max_length=64)]
    over_all: list[Reproduction] = Field(default=[], description="Claims that need several figures.")
    history: History = Field(default=[], description="Changes of the base, which all figures share.")
    withdrawn: list[Withdrawn] = Field(default=[], max_length=256, description="Numbers that are judged no more.")
    leagues: list[LeagueTable] = Field(default=[], max_length=16, description="Tables of variants against each other.")

    def with_history(self, reproduction: Reproduction) -> Reproduction:
        """A figure with the changes of the base."""
        return reproduction.model_copy(update={"history": [*reproduction.history, *self.history]})


@dataclass(frozen=True)
class StudyFile:
    """A study and its file."""

    path: Path
    study: Study

    def scenario(self, figure: StudyFigure) -> Path:
        """The scenario's file."""
        return self.path.parent / figure.file


def experiments_folders() -> list[Path]:
    """Where studies are looked for: below the working folder, then p4cc's own."""
    return list(dict.fromkeys([Path.cwd() / "experiments", EXPERIMENTS]))


def known_studies() -> dict[str, StudyFile]:
    """All studies by name, in order."""
    result: dict[str, StudyFile] = {}
    for folder in experiments_folders():
        for path in sorted(folder.glob(f"*/{FILE}")):
            study = read_study(path)
            result.setdefault(study.study.name, study)
    return result


def find_study(name: str) -> StudyFile:
    """The study of this name, or in this file or folder; raises UserError."""
    path = Path(name)
    if path.is_dir() and (path / FILE).is_file():
        return read_study(path / FILE)
    if path.suffix == ".yaml":
        return read_study(path)
    known = known_studies()
    if name in known:
        return known[name]
    raise UserError(f"no study {name!r}", place="p4cc reproduce", remedy=f"studies: {', '.join(known) or 'none'}")


def read_study(path: Path) -> StudyFile:
    """Reads and checks a study; raises UserError with the place of every finding."""
    document = read_document(path)
    try:
        study = Study.model_validate_json(json.dumps(document.plain()))
    except ValidationError as error:
        lines = [f"{document.place(one['loc'])}: {dotted(one['loc'])}: {one['msg']}" for one in error.errors()]
        raise UserError("\n".join(lines), remedy="experiments/gst/reproduce.yaml is one that works") from error
    shared = {"over_all": [study.with_history(one) for one in study.over_all]}
    return StudyFile(path, study.model_copy(update=shared))
