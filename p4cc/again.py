"""`p4cc run --again FOLDER`: runs once more what a folder says was run, and compares the bytes of the tables."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from p4cc import provenance
from p4cc.errors import UserError
from p4cc.result_folder import digest
from p4cc.runner import RunRequest, run_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping

_OURS = "name a folder that p4cc run wrote"


@dataclass(frozen=True)
class Repeated:
    """How the tables of the second run compare to those of the folder."""

    equal: tuple[str, ...]
    differing: tuple[str, ...]
    """Tables whose bytes differ, or that only one of both has."""
    changed: tuple[str, ...]
    """What differs between the two p4cc: version, commit, engine."""

    def plain(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"equal": list(self.equal), "differing": list(self.differing), "changed": list(self.changed)}


def run_again(folder: Path, request: RunRequest) -> Repeated:
    """Runs what is in `folder` with the request's way to run (jobs, threads, exec); raises UserError."""
    told = _read(folder)
    chosen = cast("list[str]", told.get("variants_chosen", []))
    with tempfile.TemporaryDirectory(prefix="p4cc-again-") as place:
        again = replace(
            request,
            scenario=folder / provenance.SCENARIO_FILE,
            out=Path(place) / "out",
            variants=tuple(chosen),
            figures=False,
            use_cache=False,
        )
        new = _tables(run_scenario(again).folder)
    old = _tables(folder)
    equal = [name for name in new if old.get(name) == new[name]]
    differing = sorted(name for name in {*old, *new} if name not in equal)
    return Repeated(tuple(equal), tuple(differing), tuple(_changes(told)))


def _read(folder: Path) -> dict[str, Any]:
    path = folder / provenance.RUN_FILE
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError("there is no such file", place=str(path), remedy=_OURS) from error
    except (ValueError, RecursionError) as error:
        raise UserError("is not JSON", place=str(path), remedy=_OURS) from error
    if not isinstance(told, dict) or cast("dict[str, Any]", told).get("format") != provenance.FORMAT:
        raise UserError("does not say what was run", place=str(path), remedy=_OURS)
    chosen: Any = cast("dict[str, Any]", told).get("variants_chosen", [])
    if not isinstance(chosen, list) or not all(isinstance(name, str) for name in cast("list[Any]", chosen)):
        raise UserError("variants_chosen is no list of names", place=str(path), remedy=_OURS)
    return cast("dict[str, Any]", told)


def _tables(folder: Path) -> Mapping[str, str]:
    return {path.name: digest(path) for path in sorted(folder.glob("*.parquet"))}


def _changes(told: dict[str, Any]) -> list[str]:
    was: Any = told.get("p4cc")
    then = cast("dict[str, Any]", was) if isinstance(was, dict) else {}
    now = provenance.this_p4cc()
    return [f"{name}: {then.get(name)} then, {now[name]} now" for name in now if then.get(name) != now[name]]
