"""P4 programs: from a path to the compiler's results."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from p4cc import _engine, bundled
from p4cc.errors import UserError
from p4cc.files import find_named, read_text
from p4cc.planning.execution import Exec
from p4cc.planning.places import Places

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from p4cc.json_data import JsonObject
    from p4cc.scenario.programs import ProgramSource


class TracedPackets(NamedTuple):
    """The way of each packet of a test (`TracedPacket` in engine/stf), and commands that failed, by line."""

    packets: list[dict[str, Any]]
    problems: list[tuple[int, str]]


@dataclass(frozen=True)
class Finding:
    """One diagnostic."""

    file: str
    line: int
    column: int
    severity: str
    message: str
    help: str | None


@dataclass(frozen=True)
class HeaderField:
    """One field of a header type."""

    name: str
    kind: Literal["bool", "bit", "int", "varbit"]
    bits: int
    """Of a varbit the most."""


HeaderTypes = Mapping[str, tuple[HeaderField, ...]]
"""Fields of header types in wire order, by name."""


class CompiledProgram:
    """A program after compilation; `ok` is false when it has errors, and then it holds diagnostics only."""

    def __init__(self, program: _engine.Program) -> None:
        self._program = program
        self.ok: bool = program.ok
        self.rendered: str = program.rendered
        self.diagnostics = [
            Finding(one.file, one.line, one.column, one.severity, one.message, one.help) for one in program.diagnostics
        ]

    @cached_property
    def places(self) -> Places:
        """Where its tables, actions and states are declared."""
        return Places(self._program.declared)

    def __repr__(self) -> str:
        """Whether it compiled, and its objects for a controller."""
        if not self.ok:
            return f"CompiledProgram({sum(one.severity == 'error' for one in self.diagnostics)} errors)"
        counts = Counter(kind for kind, *_ in self._seen())
        seen = ", ".join(f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items())
        return f"CompiledProgram({seen or 'nothing visible to a controller'})"

    def _repr_html_(self) -> str:
        """For notebooks: tables and arrays, or the diagnostics."""
        shown = f"<p>{html.escape(repr(self))}</p>"
        if self.rendered:
            shown += f"<pre>{html.escape(self.rendered)}</pre>"
        if not self.ok:
            return shown
        cells = ["".join(f"<td>{html.escape(text)}</td>" for text in row) for row in self._seen()]
        head = "".join(f"<th>{name}</th>" for name in ("", "name", "size", "key", "actions"))
        rows = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"{shown}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def _seen(self) -> Iterator[tuple[str, str, str, str, str]]:
        """Kind, name, size, keys and actions of a controller's objects."""
        if not self._program.has_p4info:
            return
        # P4Runtime's messages take a while to import; other commands need not wait for them.
        from controller.pipeline import parse_p4info

        info = parse_p4info(self.p4info_bytes())
        actions = {action.preamble.id: action.preamble.alias for action in info.actions}
        for table in info.tables:
            keys = ", ".join(f"{key.name}: {key.MatchType.Name(key.match_type).lower()}" for key in table.match_fields)
            named = ", ".join(actions[one.id] for one in table.action_refs)
            yield "table", table.preamble.name, str(table.size), keys, named
        for kind, arrays in (("counter", info.counters), ("meter", info.meters), ("register", info.registers)):
            for array in arrays:
                yield kind, array.preamble.name, str(array.size), "", ""

    def p4info_text(self) -> str:
        """P4Info as protobuf text; raises UserError for a program of another architecture."""
        with _runs():
            return self._program.p4info_text()

    def p4info_bytes(self) -> bytes:
        """P4Info, serialized; raises UserError for a program of another architecture."""
        with _runs():
            return self._program.p4info_bytes()

    def ir_text(self) -> str:
        """The IR's text form; raises UserError for a program without `main`."""
        with _runs():
            return self._program.ir_text()

    def bfrt_text(self) -> str:
        """BF Runtime's schema, bf-rt.json; raises UserError unless it is a TNA program."""
        with _runs():
            return self._program.bfrt_text()

    def bmv2_json(self) -> str:
        """BMv2 JSON of a program of v1model or PSA; raises UserError for programs that the format cannot express."""
        with _runs():
            return self._program.bmv2_json()

    def device_config(self) -> bytes:
        """The device config: the self-contained source, or the BMv2 JSON; raises UserError without `main`."""
        with _runs():
            return self._program.device_config()

    def header_types(self) -> HeaderTypes:
        """Header types by name; raises UserError for a program without `main`."""
        with _runs():
            found = self._program.header_types()
        return {name: tuple(HeaderField(*field) for field in fields) for name, fields in found}

    def parser(self) -> JsonObject:
        """Headers and blocks of the (ingress) parser; raises UserError for a program without `main`."""
        with _runs():
            return json.loads(self._program.parser_json())

    def run_stf(self, test: str, back_end: Exec | None = None) -> _engine.StfReport:
        """Runs a test of the Simple Test Framework on it; raises UserError for a program without `main`."""
        with _runs():
            return self._program.run_stf(test, back_end.value if back_end is not None else None)

    def trace_stf(self, test: str) -> TracedPackets:
        """Follows the packets of such a test; raises UserError if the text is no test."""
        with _runs():
            try:
                traced: dict[str, Any] = json.loads(self._program.trace_stf(test))
            except ValueError as error:
                raise UserError(str(error), remedy="docs/reference/p4-support.md lists the commands") from error
        for packet in traced["packets"]:
            self.places.add_to(packet["steps"])
        return TracedPackets(traced["packets"], [(line, text) for line, text in traced["problems"]])


@contextmanager
def _runs() -> Generator[None]:
    """Calls that need a program with `main`."""
    try:
        yield
    except _engine.CompileError as error:
        raise UserError(error.cause, place=error.place, remedy=error.remedy) from error


def compile_program(
    path: Path, include: tuple[Path, ...] = (), defines: tuple[str, ...] = (), strict: str | None = None
) -> CompiledProgram:
    """Compiles P4-16 source, or reads BMv2 JSON; raises UserError only when the file cannot be read.

    `#include` searches the file's folder, `include`, then the folder of p4cc's own programs: `../include/headers.p4`
    is found from everywhere, and so is `<p4cc/ecn_dual.p4>`. What the rules that `strict` names refuse is an error.
    """
    path = bundled.find_program(path)
    if not path.is_file():
        remedy = "give the path of a .p4 file or of BMv2 JSON"
        raise UserError("the P4 program does not exist", place=str(path), remedy=remedy)
    macros = dict(_macro(text) for text in defines)
    folders = [str(folder) for folder in (*include, bundled.PROGRAMS, bundled.LIBRARY)]
    rules = {} if strict is None else {"strict": strict}
    try:
        return CompiledProgram(_engine.compile_p4(str(path), folders, macros, **rules))
    except ValueError as error:
        raise UserError(str(error), place="--strict") from error


def places_of(config: bytes) -> Places:
    """Where a program declares what traces name, by the device config that a switch was given."""
    text = config.decode("utf-8", "replace")
    return Places(_engine.compile_p4_text("program.p4", text).declared)


def find_program(name: str, scenario: Path) -> Path:
    """A scenario's program: next to the scenario, in the working folder, or p4cc's; raises UserError."""
    return find_named(name, scenario, what="P4 program", key="switch.program")


def include_folders(named: Sequence[str], scenario: Path) -> tuple[Path, ...]:
    """Folders that `#include` searches: next to the scenario, otherwise in the working folder, like programs."""
    folder = scenario.resolve().parent
    return tuple(folder / one if (folder / one).is_dir() else Path.cwd() / one for one in named)


def compiled_sources(sources: Sequence[ProgramSource], scenario: Path) -> dict[str, CompiledProgram]:
    """Programs of a scenario by their names, each compiled once; raises UserError for one that does not compile."""
    kept: dict[str, ProgramSource] = {}
    for source in sources:
        known = kept.setdefault(source.program, source)
        if any(getattr(known, field) != getattr(source, field) for field in ("include", "defines", "p4info", "strict")):
            remedy = "copy or link the file under a second name, and compile each in one way"
            raise UserError("is compiled with two sets of options in one scenario", place=source.program, remedy=remedy)
    return {name: _compiled(source, scenario) for name, source in kept.items()}


def read_p4info(source: ProgramSource, scenario: Path) -> str | bytes | None:
    """The P4Info that a scenario names for a program, text or binary; None where p4cc makes it."""
    if source.p4info is None:
        return None
    path = find_named(source.p4info, scenario, what="P4Info", key="switch.p4info")
    if path.suffix in (".bin", ".pb"):
        try:
            return path.read_bytes()
        except OSError as error:
            raise UserError(f"cannot read the P4Info: {error.strerror}", place=str(path)) from error
    return read_text(path, "P4Info")


def _compiled(source: ProgramSource, scenario: Path) -> CompiledProgram:
    include = include_folders(source.include, scenario)
    program = compile_program(find_program(source.program, scenario), include, tuple(source.defines), source.strict)
    if not program.ok:
        raise UserError(f"the P4 program does not compile\n{program.rendered}", place=source.program)
    return program


def _macro(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not name.isidentifier():
        raise UserError(f"{text!r} does not define a macro", place="--define", remedy="write NAME or NAME=VALUE")
    return name, value if separator else "1"
