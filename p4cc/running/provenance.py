"""The record of a run in its results folder: `run.json`, and the scenario with its files, ready to run again.

`scenario.json` is the scenario after `extends` and `--set`; the files it names are in `inputs/`, P4 programs as one
self-contained text. Wall-clock values are only here and in summary.json.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from p4cc import _engine
from p4cc.analysis.recorded import RUN_FILE
from p4cc.planning.entries import explicit_rows
from p4cc.running.result_folder import digest
from p4cc.scenario.variants import KINDS
from p4cc.version import commit, p4cc_version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p4cc.running.case_writer import Collected
    from p4cc.running.prepared import Prepared
    from p4cc.scenario.schema import Variant

SCENARIO_FILE = "scenario.json"
INPUTS = "inputs/"
FORMAT = "p4cc run 1"


@dataclass(frozen=True)
class Provenance:
    """Inputs and results of a call."""

    prepared: Prepared
    collected: Collected
    started: datetime
    duration_s: float


def names() -> list[str]:
    """File patterns for a `Claim`."""
    return [RUN_FILE, SCENARIO_FILE, INPUTS]


def this_p4cc() -> dict[str, str | None]:
    """Identifies this p4cc."""
    return {"version": p4cc_version(), "commit": commit(), "engine_sha256": digest(Path(_engine.__file__))}


def write(folder: Path, record: Provenance) -> None:
    """Writes run.json, scenario.json and inputs; raises OSError."""
    kept = _keep_inputs(folder, record.prepared)
    scenario = renamed(_with_rows(record.prepared), {name: one["file"] for name, one in kept.items()})
    (folder / SCENARIO_FILE).write_text(json.dumps(scenario, indent=1) + "\n", encoding="utf-8")
    (folder / RUN_FILE).write_text(json.dumps(_plain(record, kept), indent=1) + "\n", encoding="utf-8")


def _plain(record: Provenance, kept: Mapping[str, dict[str, str]]) -> dict[str, object]:
    prepared = record.prepared
    return {
        "format": FORMAT,
        "p4cc": this_p4cc(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
        "scenario_file": str(prepared.request.scenario),
        "set": list(prepared.request.overrides),
        "variants_chosen": list(prepared.request.variants),
        "seeds": prepared.scenario.seeds,
        "inputs": [{"name": name, **one} for name, one in kept.items()],
        "cases": [
            {
                "case": case.label(),
                **case.keys(),
                "algorithm": case.algorithm,
                "program": case.program,
                "algorithms": algorithms_of(case.variant),
                "installed": record.collected.thresholds.get(case.label(), []),
                **_headroom(record.collected.headroom.get(case.label())),
            }
            for case in prepared.cases
        ],
        "warnings": list(record.collected.warnings),
        "scenario": prepared.scenario.model_dump(mode="json"),
        "host": {
            "name": platform.node(),
            "system": platform.platform(),
            "processors": os.cpu_count(),
            "python": platform.python_version(),
        },
        "started": record.started.isoformat(timespec="seconds"),
        "duration_s": round(record.duration_s, 3),
    }


def _headroom(planned: list[dict[str, int]] | None) -> dict[str, object]:
    return {} if planned is None else {"headroom": planned}


def algorithms_of(variant: Variant) -> dict[str, dict[str, Any]]:
    """A sender's algorithms with all parameters: the set ones, otherwise the registry's defaults.

    A parameter that is null gets its value from the switches, such as GST's K.
    """
    found: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        chosen = getattr(variant, kind)
        if chosen is None:
            continue
        entry = chosen.entry
        defaults = {} if entry is None else {one.name: one.default for one in entry.parameters}
        found[kind] = {"name": chosen.name, **defaults, **chosen.parameters()}
    return found


def _with_rows(prepared: Prepared) -> dict[str, object]:
    """The scenario's data with one row per file of entries, so that each has a name that `inputs/` knows.

    If points of a sweep have different rows, these are left as the user wrote them.
    """
    found = {json.dumps(explicit_rows(case.scenario, prepared.request.scenario)) for case in prepared.cases}
    rows = json.loads(found.pop()) if len(found) == 1 else None
    if rows is None:
        return prepared.data
    topology = {key: value for key, value in prepared.data["topology"].items() if key != "entries"}
    return {**prepared.data, "topology": topology, "switch": {**prepared.data.get("switch", {}), "entries": rows}}


def _keep_inputs(folder: Path, prepared: Prepared) -> dict[str, dict[str, str]]:
    """Copies the files that the scenario names; returns their new places and hashes by name."""
    kept: dict[str, dict[str, str]] = {}
    taken: set[str] = set()
    (folder / INPUTS).mkdir(exist_ok=True)
    for name, path in prepared.inputs.items():
        file = f"{INPUTS}{_free(path.name, taken)}"
        program = prepared.compiled.get(name)
        content = path.read_bytes() if program is None else program.device_config()
        (folder / file).write_bytes(content)
        kept[name] = {"file": file, "sha256": hashlib.sha256(content).hexdigest()}
    return kept


def _free(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{number}-{name}"
    taken.add(found)
    return found


def renamed(node: Any, files: Mapping[str, str]) -> Any:
    """Renames files in a scenario's data; `files` maps old names to new ones."""
    if isinstance(node, dict):
        return {key: renamed(value, files) for key, value in cast("dict[str, Any]", node).items()}
    if isinstance(node, list):
        return [renamed(value, files) for value in cast("list[Any]", node)]
    if not isinstance(node, str) or node in files:
        return files.get(node, node)
    # A class of a file: FILE.py:CLASS.
    file, colon, kind = node.rpartition(":")
    return f"{files.get(file, file)}{colon}{kind}"


def now() -> datetime:
    """Wall-clock time for run.json."""
    return datetime.now(UTC)
