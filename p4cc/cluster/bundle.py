"""What runs need, as content: the scenario, its programs and the files that it names, each file by its hash.

A machine that receives it restores the files' layout below a separate folder, so that files find those
next to them, and no others are searched.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from p4cc.errors import UserError
from p4cc.planning.execution import Exec
from p4cc.planning.programs import HeaderField
from p4cc.running.remote_runs import ProgramContent, Study

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT = "text"
_BINARY = "binary"


@dataclass(frozen=True)
class Bundle:
    """What all runs of a set need: a description, and contents by their SHA-256."""

    manifest: bytes
    contents: Mapping[str, bytes]

    @property
    def name(self) -> str:
        """The manifest's hash, which identifies the bundle: the manifest has the hashes of the contents."""
        return sha256(self.manifest)


@dataclass
class Contents:
    """Files and programs that were read, each once."""

    by_hash: dict[str, bytes] = field(default_factory=dict[str, bytes])
    _files: dict[Path, str] = field(default_factory=dict[Path, str])

    def add(self, content: bytes) -> str:
        """Takes a content and gives its hash."""
        name = sha256(content)
        self.by_hash[name] = content
        return name

    def add_file(self, path: Path) -> str:
        """Takes a file and gives its hash; raises UserError where it cannot be read."""
        if path not in self._files:
            try:
                self._files[path] = self.add(path.read_bytes())
            except OSError as error:
                cause = f"cannot be read, and the workers need it: {error.strerror}"
                raise UserError(cause, place=str(path), remedy="put it back") from error
        return self._files[path]


def bundle_of(study: Study, inputs: Mapping[str, Path], known: Contents) -> Bundle:
    """The inputs of a case's runs, with these files; raises UserError."""
    files = {name: path.resolve() for name, path in sorted(inputs.items())}
    hashes = {name: known.add_file(path) for name, path in files.items()}
    programs = {name: _program_spec(one, known) for name, one in study.programs.items()}
    manifest = {
        "scenario": str(study.scenario.resolve()),
        "data": study.data,
        "files": {name: {"path": str(path), "sha256": hashes[name]} for name, path in files.items()},
        "programs": programs,
        "threads": study.threads,
        "back_end": None if study.back_end is None else study.back_end.value,
    }
    named = [*hashes.values(), *(name for one in programs.values() for name in (one["config"], one["p4info"]))]
    return Bundle(json.dumps(manifest).encode(), {name: known.by_hash[name] for name in named})


def laid_out(bundle: Bundle, folder: Path) -> Study:
    """The study of a bundle, its files below `folder`; raises UserError for content with another hash."""
    for name, content in bundle.contents.items():
        if sha256(content) != name:
            cause = f"an input has other bytes than were sent (SHA-256 {name[:16]}…)"
            raise UserError(cause, place="the cluster", remedy="run the same command again")
    manifest = json.loads(bundle.manifest)
    inputs: dict[str, Path] = {}
    for name, one in manifest["files"].items():
        inputs[name] = _below(folder, one["path"])
        inputs[name].parent.mkdir(parents=True, exist_ok=True)
        inputs[name].write_bytes(bundle.contents[one["sha256"]])
    return Study(
        scenario=_below(folder, manifest["scenario"]),
        data=manifest["data"],
        inputs=inputs,
        programs={name: _program(one, bundle.contents) for name, one in manifest["programs"].items()},
        threads=int(manifest["threads"]),
        back_end=None if manifest["back_end"] is None else Exec(manifest["back_end"]),
    )


def sha256(content: bytes) -> str:
    """A content's name."""
    return hashlib.sha256(content).hexdigest()


def _below(folder: Path, path: str) -> Path:
    """Where a file of another machine lies here; raises UserError for a path that leads out of the folder."""
    whole = Path(path)
    if not whole.is_absolute() or ".." in whole.parts:
        raise UserError(f"{path!r} is not a complete path", place="the cluster", remedy="run the same command again")
    return folder.joinpath(*whole.parts[1:])


_FieldSpec: TypeAlias = tuple[str, Literal["bool", "bit", "int", "varbit"], int]
"""Name, kind and bits."""


class _ProgramSpec(TypedDict):
    """A program in a manifest, with the hashes of its contents."""

    config: str
    p4info: str
    p4info_is: str
    header_types: dict[str, list[_FieldSpec]]


def _program_spec(program: ProgramContent, known: Contents) -> _ProgramSpec:
    is_text = isinstance(program.p4info, str)
    p4info = program.p4info.encode() if isinstance(program.p4info, str) else program.p4info
    types: dict[str, list[_FieldSpec]] = {
        name: [(one.name, one.kind, one.bits) for one in fields] for name, fields in program.header_types.items()
    }
    return _ProgramSpec(
        config=known.add(program.config),
        p4info=known.add(p4info),
        p4info_is=_TEXT if is_text else _BINARY,
        header_types=types,
    )


def _program(plain: _ProgramSpec, contents: Mapping[str, bytes]) -> ProgramContent:
    p4info = contents[plain["p4info"]]
    types = {name: tuple(HeaderField(*one) for one in fields) for name, fields in plain["header_types"].items()}
    return ProgramContent(contents[plain["config"]], p4info.decode() if plain["p4info_is"] == _TEXT else p4info, types)
