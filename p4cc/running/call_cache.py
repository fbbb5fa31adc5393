"""Up-to-date results: a repeated call of `p4cc run` for which nothing has changed writes nothing.

The record of a call is stored with its runs: its request, the hash of every file it read, the file that each name
resolved to, its programs, the keys of its runs, and its output. When the same call is repeated, all of this is
checked again: names are resolved, files hashed, programs compiled, the runs must be in the cache, and the folder must
hold exactly what was written. The existing results then equal what the call would write. Otherwise, or in doubt, the
call runs in full.

Results of users' Python classes depend on more than their files, so scenarios with such classes have no record.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from p4cc.errors import UserError
from p4cc.files import found_at, places_of, sha256_of
from p4cc.running.cache_files import CALL, path_of, write_whole
from p4cc.running.cache_files import FOLDER as CACHE
from p4cc.running.destination import Destination
from p4cc.running.outcome import RunOutcome
from p4cc.running.result_folder import MANIFEST, REPORT, Claim, check_claim, lock_folder
from p4cc.running.seal import Seal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from p4cc.files import FilesSeen
    from p4cc.planning.programs import CompiledProgram
    from p4cc.running.result_folder import Manifest
    from p4cc.scenario.programs import ProgramSource

SEAL = Seal("p4cc call 2", "call")
MAX_RECORD_BYTES = 16 << 20
"""Limit for a record, enough for some 10^5 runs; larger ones are not stored."""

_PACKAGES = ("p4cc", "controller", "topos")
_HOME = Path(__file__).resolve().parents[2]
_LOOKS = ("MATPLOTLIBRC", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "HOME")
"""Environment variables with the location of matplotlib's settings."""
_STYLE = "matplotlibrc"
_LIBRARIES = (".dist-info", ".egg-info")
"""Metadata of an installed library, with its version in the name."""


@dataclass(frozen=True)
class Call:
    """The request and the version of p4cc; created before any file is read."""

    scenario: Path
    out: Path | None
    overrides: tuple[str, ...]
    variants: tuple[str, ...]
    figures: bool
    report: bool
    force: bool
    p4cc: str
    """Everything that determines how results are computed and drawn."""

    @property
    def cache(self) -> Path:
        """Cache of runs."""
        return (self.out.parent if self.out is not None else Path("results")) / CACHE

    @cached_property
    def key(self) -> str:
        """Key of the call's record."""
        asked = [str(Path.cwd()), str(self.scenario.absolute()), None if self.out is None else str(self.out)]
        return _sha256([*asked, self.overrides, self.variants, self.figures, self.report])


@dataclass(frozen=True)
class CallRecord:
    """Results of a call, as far as the next one needs them."""

    outcome: RunOutcome
    """Its notes, the same for every such call."""
    claim: Claim
    wanted: Path
    """The results folder named after the scenario."""
    seen: FilesSeen
    sources: tuple[ProgramSource, ...]
    programs: Mapping[str, CompiledProgram]
    runs: tuple[str, ...]
    """Keys in the cache."""
    drawn: Mapping[str, str]
    """The key of each figure's data (`figure_key`)."""


def this_code() -> str:
    """Identifies this p4cc with its engine, its libraries, and the user's settings of figures.

    Code files are identified by their status (size, times), which every change alters: reading the engine alone would
    take a tenth of a second.
    """
    parts: list[Any] = [SEAL.kind, sys.version, *(os.environ.get(name) for name in _LOOKS)]
    for package in _PACKAGES:
        parts.extend(_status_of(str(_HOME / package)))
    for place in dict.fromkeys(sys.path):
        with suppress(OSError), os.scandir(place or ".") as entries:
            parts.append(sorted(entry.name for entry in entries if entry.name.endswith(_LIBRARIES)))
    named = os.environ.get("MATPLOTLIBRC", ".")
    config = os.environ.get("MPLCONFIGDIR") or f"{os.environ.get('XDG_CONFIG_HOME') or '~/.config'}/matplotlib"
    places = (_STYLE, named, f"{named}/{_STYLE}", f"{config}/{_STYLE}")
    parts.extend(sha256_of(Path(place).expanduser()) for place in places)
    return _sha256(parts)


def _status_of(folder: str) -> Iterator[list[Any]]:
    """Status of the files below a folder, by name."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _status_of(entry.path)
            continue
        # A broken link is not code.
        with suppress(OSError):
            is_at = entry.stat()
            yield [entry.path, is_at.st_dev, is_at.st_ino, is_at.st_size, is_at.st_mtime_ns, is_at.st_ctime_ns]


def cached_outcome(call: Call) -> RunOutcome | None:
    """Results of the earlier call, if everything is up to date; None if the call must run in full."""
    held = _read(call)
    if held is None:
        return None
    try:
        return _checked(call, held)
    except (UserError, OSError, ValueError, LookupError, TypeError):
        return None


def drawn_before(call: Call, folder: Path) -> dict[str, str]:
    """Unchanged figures of the earlier call that are in the folder: what each was drawn from."""
    held = _read(call)
    drawn: dict[str, dict[str, str]] = {} if held is None else held["drawn"]
    return {name: one["of"] for name, one in drawn.items() if sha256_of(folder / name) == one["sha256"]}


def keep(call: Call, made: CallRecord, manifest: Manifest) -> None:
    """Records the call for the next one; on failure, the next one runs in full.

    `manifest` lists what it wrote.
    """
    if any(path.suffix == ".py" for path in made.seen.sha256):
        return
    try:
        text = json.dumps(_plain(call, made, manifest))
    except (TypeError, ValueError):
        return
    if len(text) <= MAX_RECORD_BYTES:
        sealed = SEAL.sealed(call.key, text.encode())
        write_whole(path_of(call.cache, call.key, CALL), lambda file: file.write(sealed))


def figure_key(call: Call, inputs: Iterable[Any]) -> str:
    """Identifies a figure by the code that draws it and its inputs."""
    return _sha256([call.p4cc, *inputs])


def _plain(call: Call, made: CallRecord, manifest: Manifest) -> dict[str, object]:
    outcome = made.outcome
    return {
        "p4cc": call.p4cc,
        "folder": str(outcome.folder),
        "wanted": str(made.wanted),
        "identity": made.claim.identity,
        "names": made.claim.names,
        "files": _sha256(manifest.files),
        "seen": {str(path): sha256 for path, sha256 in made.seen.sha256.items()},
        "absent": sorted(map(str, made.seen.absent)),
        "named": {name: str(path) for name, path in made.seen.named.items()},
        "programs": [
            {
                **{name: getattr(source, name) for name in ("program", "include", "defines", "p4info", "strict")},
                "made": _program_hash(made.programs[source.program]),
            }
            for source in {source.program: source for source in made.sources}.values()
        ],
        "runs": made.runs,
        "drawn": {name: {"of": key, "sha256": manifest.files[name]} for name, key in made.drawn.items()},
        "title": outcome.title,
        "figures": [str(path) for path in outcome.figures],
        "row_keys": outcome.row_keys,
        "rows": outcome.rows(),
        "warnings": outcome.warnings,
        "notes": outcome.notes,
    }


def _read(call: Call) -> dict[str, Any] | None:
    """Record of a call of this p4cc."""
    path = path_of(call.cache, call.key, CALL)
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            return None
        with path.open("rb") as file:
            SEAL.check(call.key, file)
            held: dict[str, Any] = json.load(file)
    except (OSError, ValueError):
        return None
    return held if held["p4cc"] == call.p4cc else None


def _checked(call: Call, held: Mapping[str, Any]) -> RunOutcome | None:
    """The outcome, if everything is unchanged; malformed values raise ordinary exceptions."""
    if not (_are_inputs_the_same(call, held) and _are_programs_the_same(call, held)):
        return None
    folder = Path(held["folder"])
    if (call.out or folder) != folder or not (folder / MANIFEST).is_file():
        return None
    runs = [path_of(call.cache, key) for key in held["runs"]]
    if not all(path.is_file() for path in runs):
        return None
    with ExitStack() as stack:
        lock_folder(folder, stack)
        manifest = check_claim(Claim(folder, held["identity"], tuple(held["names"]), call.force))
        if (
            manifest.identity != held["identity"]
            or manifest.replaced
            or manifest.under_way
            or _sha256(manifest.files) != held["files"]
            # `check_claim` has read those that exist.
            or not all((folder / name).is_file() for name in manifest.files)
        ):
            return None
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    for path in (*runs, path_of(call.cache, call.key, CALL)):
        # As for a loaded run: the least recently used are removed first.
        os.utime(path)
    return RunOutcome(
        title=held["title"],
        summary=summary,
        folder=folder,
        figures=[Path(name) for name in held["figures"]],
        row_keys=held["row_keys"],
        warnings=held["warnings"],
        notes=held["notes"],
        report=folder / REPORT if call.report else None,
        aside=Destination(folder, held["identity"], Path(held["wanted"])).aside,
        up_to_date=True,
        aggregated=held["rows"],
    )


def _are_inputs_the_same(call: Call, held: Mapping[str, Any]) -> bool:
    """Whether every name resolves to the same file with the same bytes."""
    if any(str(found_at(name, places_of(name, call.scenario))) != path for name, path in held["named"].items()):
        return False
    if any(Path(path).exists() for path in held["absent"]):
        return False
    return all(sha256_of(Path(path)) == sha256 for path, sha256 in held["seen"].items())


def _are_programs_the_same(call: Call, held: Mapping[str, Any]) -> bool:
    """Whether every program, with its includes, compiles to the same result."""
    from p4cc.planning.programs import compiled_sources

    sources = [SimpleNamespace(**one) for one in held["programs"]]
    programs = compiled_sources(cast("list[ProgramSource]", sources), call.scenario)
    return all(_program_hash(programs[one.program]) == one.made for one in sources)


def _program_hash(program: CompiledProgram) -> str:
    """The device config of a program, which determines everything else about it."""
    return hashlib.sha256(program.device_config() + b"\0" + program.p4info_bytes()).hexdigest()


def _sha256(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
