"""Results that stand: a call of `p4cc run` that was made before, nothing of which has changed since, writes nothing.

What a call left is kept beside its runs: what it was asked, every file that it read by its hash, which file each name
was found to be, its programs, the names of its runs, and what it printed. When the same call is made again, all of it
is looked at anew: names are searched for, files are hashed, programs are compiled, the runs must be in the cache, and
the folder must hold exactly what was written. Then the results are what the call would write. Anything else, and any
doubt, is for the long way.

Users' Python decides results by more than its files, so a scenario that names some has no such record.
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
"""Of what a call left: some 10^5 runs. Larger ones are not kept."""

_PACKAGES = ("p4cc", "controller", "topos")
_HOME = Path(__file__).resolve().parents[2]
_LOOKS = ("MATPLOTLIBRC", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "HOME")
"""Variables that say where matplotlib's settings of a user are."""
_STYLE = "matplotlibrc"
_LIBRARIES = (".dist-info", ".egg-info")
"""What an installed library leaves, with its version in its name."""


@dataclass(frozen=True)
class Call:
    """What is asked, and by which p4cc; made before anything is read."""

    scenario: Path
    out: Path | None
    overrides: tuple[str, ...]
    variants: tuple[str, ...]
    figures: bool
    report: bool
    force: bool
    p4cc: str
    """What decides how results are worked out and drawn."""

    @property
    def cache(self) -> Path:
        """The folder of runs made before."""
        return (self.out.parent if self.out is not None else Path("results")) / CACHE

    @cached_property
    def key(self) -> str:
        """The name of what it left."""
        asked = [str(Path.cwd()), str(self.scenario.absolute()), None if self.out is None else str(self.out)]
        return _sha256([*asked, self.overrides, self.variants, self.figures, self.report])


@dataclass(frozen=True)
class CallRecord:
    """What a call made, as far as the next one must know it."""

    outcome: RunOutcome
    """Its notes are those that any such call gives."""
    claim: Claim
    wanted: Path
    """The folder of the scenario's name."""
    seen: FilesSeen
    sources: tuple[ProgramSource, ...]
    programs: Mapping[str, CompiledProgram]
    runs: tuple[str, ...]
    """Names in the cache."""
    drawn: Mapping[str, str]
    """By figure: what it was drawn of (`figure_key`)."""


def this_code() -> str:
    """What stands for this p4cc with its engine, its libraries, and a user's settings of figures.

    Files of code are told by what the system says of them, which changes with each change: the engine alone takes a
    tenth of a second to read.
    """
    told: list[Any] = [SEAL.kind, sys.version, *(os.environ.get(name) for name in _LOOKS)]
    for package in _PACKAGES:
        told.extend(_status_of(str(_HOME / package)))
    for place in dict.fromkeys(sys.path):
        with suppress(OSError), os.scandir(place or ".") as entries:
            told.append(sorted(entry.name for entry in entries if entry.name.endswith(_LIBRARIES)))
    named = os.environ.get("MATPLOTLIBRC", ".")
    config = os.environ.get("MPLCONFIGDIR") or f"{os.environ.get('XDG_CONFIG_HOME') or '~/.config'}/matplotlib"
    places = (_STYLE, named, f"{named}/{_STYLE}", f"{config}/{_STYLE}")
    told.extend(sha256_of(Path(place).expanduser()) for place in places)
    return _sha256(told)


def _status_of(folder: str) -> Iterator[list[Any]]:
    """What the system says of the files below a folder, by their names."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from _status_of(entry.path)
            continue
        # A link to nothing is no code.
        with suppress(OSError):
            is_at = entry.stat()
            yield [entry.path, is_at.st_dev, is_at.st_ino, is_at.st_size, is_at.st_mtime_ns, is_at.st_ctime_ns]


def cached_outcome(call: Call) -> RunOutcome | None:
    """What the call made when it was made before, if all of it stands; None for the long way, which says why."""
    held = _read(call)
    if held is None:
        return None
    try:
        return _checked(call, held)
    except (UserError, OSError, ValueError, LookupError, TypeError):
        return None


def drawn_before(call: Call, folder: Path) -> dict[str, str]:
    """Figures of the call made before that are in the folder as they were drawn: what each was drawn of."""
    held = _read(call)
    drawn: dict[str, dict[str, str]] = {} if held is None else held["drawn"]
    return {name: one["of"] for name, one in drawn.items() if sha256_of(folder / name) == one["sha256"]}


def keep(call: Call, made: CallRecord, manifest: Manifest) -> None:
    """Keeps what the call left, for the next one; where it cannot, the next one goes the long way.

    `manifest` is what it wrote.
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


def figure_key(call: Call, told: Iterable[Any]) -> str:
    """What stands for a figure: the code that draws, and what it is told."""
    return _sha256([call.p4cc, *told])


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
    """What a call of this p4cc left."""
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
    """The outcome, if everything is as it was; raises what wrong values raise."""
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
            # `check_claim` has read those that are there.
            or not all((folder / name).is_file() for name in manifest.files)
        ):
            return None
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    for path in (*runs, path_of(call.cache, call.key, CALL)):
        # As for a run that is loaded: those that were longest not used go first.
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
        stands=True,
        aggregated=held["rows"],
    )


def _are_inputs_the_same(call: Call, held: Mapping[str, Any]) -> bool:
    """Whether every name is found to be the same file, and every file has the same bytes."""
    if any(str(found_at(name, places_of(name, call.scenario))) != path for name, path in held["named"].items()):
        return False
    return all(sha256_of(Path(path)) == sha256 for path, sha256 in held["seen"].items())


def _are_programs_the_same(call: Call, held: Mapping[str, Any]) -> bool:
    """Whether every program compiles to the same, whatever it includes."""
    from p4cc.planning.programs import compiled_sources

    sources = [SimpleNamespace(**one) for one in held["programs"]]
    programs = compiled_sources(cast("list[ProgramSource]", sources), call.scenario)
    return all(_program_hash(programs[one.program]) == one.made for one in sources)


def _program_hash(program: CompiledProgram) -> str:
    """What is pushed to a switch of a program: everything else of it follows from that."""
    return hashlib.sha256(program.device_config() + b"\0" + program.p4info_bytes()).hexdigest()


def _sha256(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()
