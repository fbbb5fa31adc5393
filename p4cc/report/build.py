"""Builds a document from results folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.report import (
    causes,
    differences,
    flows,
    lab,
    network,
    overview,
    scenario_figures,
    slow_flows,
    summary,
    time,
)
from p4cc.report.document import Document, Facts, Section, Text
from p4cc.report.folders import LabComparison, LabFolder, RunFolder, Unfinished
from p4cc.report.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.report.document import Block
    from p4cc.report.folders import Folder

MAX_FOLDERS = 8
"""Limit of folders in one report: more colours and letters would be hard to distinguish."""


def build(folders: Sequence[Folder]) -> Document:
    """The report of one or several folders; raises UserError for folders that cannot be combined."""
    if len(folders) == 1:
        match folders[0]:
            case LabFolder() as one:
                return lab.document(one)
            case LabComparison() as one:
                return lab.comparison(one)
            case Unfinished() as one:
                return _unfinished(one)
            case RunFolder() as one:
                return _of_runs(Runs([one]))
    others = [one for one in folders if not isinstance(one, RunFolder)]
    if others:
        place, remedy = others[0].shown, "make a separate report of each lab or unfinished run"
        raise UserError("only finished runs of p4cc run can be compared", place=place, remedy=remedy)
    if len(folders) > MAX_FOLDERS:
        remedy = "compare fewer at a time"
        raise UserError(
            f"{len(folders)} folders; a report has room for {MAX_FOLDERS}", place="p4cc report", remedy=remedy
        )
    return _of_runs(Runs([one for one in folders if isinstance(one, RunFolder)]))


def _of_runs(runs: Runs) -> Document:
    first = runs.folders[0]
    several = len(runs.folders) > 1
    title = " and ".join(f"{runs.letter(number)} {one.shown}" for number, one in enumerate(runs.folders))
    scenario = first.results.run.scenario.model_dump()
    sections = [
        Section("notes", "Warnings and notes", overview.warnings(runs)),
        Section("differences", "Differences", differences.blocks(runs) if several else []),
        Section("summary", "Summary", summary.blocks(runs)),
        Section("figures", "Figures of the scenario", scenario_figures.blocks(runs)),
        Section("network", "The network", network.blocks(runs)),
        Section("queues", "Queues", time.queue_blocks(runs)),
        Section("windows", "Windows and rates", time.window_blocks(runs)),
        Section("flows", "Completion times and slowdowns", flows.blocks(runs)),
        Section("slow", "What bounded slow flows", slow_flows.blocks(runs)),
        Section("causes", "Marks, drops and pauses", causes.blocks(runs)),
        Section("runs", "All runs", [summary.table(runs)]),
        *_what(runs),
    ]
    return Document(
        title if several else str(scenario.get("title") or first.results.run.scenario.name),
        _counted(runs),
        [one for one in sections if one.blocks],
        runs.series,
        runs.points,
        runs.seeds,
        runs.first_point,
    )


def _what(runs: Runs) -> list[Section]:
    sections: list[Section] = []
    for number, one in enumerate(runs.folders):
        letter = runs.letter(number)
        title = f"What was run: {letter} {one.shown}" if letter else "What was run"
        sections.append(Section(f"what{letter.lower()}", title, overview.blocks(one)))
    return sections


def _counted(runs: Runs) -> str:
    """One line on the number of runs."""
    parts = [(len(runs.series), "variant"), (len(runs.points), "point"), (len(runs.seeds), "seed")]
    texts = [f"{count} {word}{'s' if count > 1 else ''}" for count, word in parts if word != "point" or count > 1]
    return f"{', '.join(texts)}: {len(runs.numbers)} run{'s' if len(runs.numbers) > 1 else ''}"


def _unfinished(one: Unfinished) -> Document:
    """The report of a folder without results: its run is in progress or was killed."""
    identity = one.manifest.identity
    facts = Facts([(name, value) for name, value in identity.items() if value])
    what = "lab" if identity.get("kind") == "lab" else "run"
    texts: list[Block] = [
        Text(
            f"This {what} is not finished: it is in progress, or was interrupted or killed. There are no results yet.",
            "warning",
        ),
        Text(
            "Finished runs are kept in the cache next to the folder (.p4cc-cache): the same command continues from "
            "there and ends with the same bytes."
            if what == "run"
            else "The next lab in this folder moves its files to killed-N."
        ),
        facts,
    ]
    if one.manifest.replaced:
        texts.insert(1, Text("A call was killed while it moved its results into place: run it again.", "warning"))
    return Document(
        identity.get("scenario") or one.shown, f"{what} without results", [Section("notes", "Unfinished", texts)]
    )
