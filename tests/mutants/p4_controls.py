"""Mutants of the P4 controls, and the packet tests that kill them (docs/how-to/mutation-testing.md).

    python -m tests.mutants.p4_controls [CONTROL ...] [--list]

A mutant is one token of `p4src/controls` changed: a comparison, a code point or another named constant, a number, a
shift, a sum or a bound of one. A program that includes the control is compiled with it; one that does not compile, or
that compiles to the same program, is not counted. The others run the text cases `control_*.p4` of `engine/filetests`
and the packet tests of `engine/switch/tests/p4src`, with a copy of `p4src`. A mutant survives if no test fails;
`survivors.toml` says why one may.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from p4cc.planning.programs import compile_program
from tests.mutants.outcome import HEAD, Counts, Outcome, cpu_limit, reasons

ROOT = Path(__file__).resolve().parents[2]
CONTROLS = ROOT / "p4src" / "controls"
CASES = ROOT / "engine" / "filetests" / "cases"
ARCHITECTURES = ("v1model", "tna")

LIMIT_S = 60
# Tests that take seconds.
LONG = "d3_property"

# The modules of tests that are about a control: they run first. Without an entry it is the module of its
# name.
MODULES = {
    "capacity_estimate": ("d3_capacity",),
    "d3_stamp": ("own",),
    "ecn_red_steps": ("own",),
    "forward": ("ecmp",),
    "grow": ("int_hpcc", "int_md"),
    "int_push": ("int_hpcc",),
    "load_meter": ("rcp", "d3_capacity"),
    "rcp_stamp": ("own",),
}

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
SUMS = {"|-|": "-", "|+|": "+", "+": "-", "-": "+"}
SHIFTS = {"<<": ">>", ">>": "<<"}
CHOICES = {"&&": "||", "||": "&&"}
OPERATORS = COMPARISONS | SUMS | SHIFTS | CHOICES

# The formatter puts blanks around an operator and none into `bit<32>`, which tells the two apart.
_OPERATOR = re.compile(r"(?<= )(?:\|-\||\|\+\||<<|>>|<=|>=|==|!=|&&|\|\||[<>+-])(?= )")
_NAME = re.compile(r"(?<![\w.])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b(?!\()")
_NUMBER = re.compile(r"(?<![\w.<:\[\"])(?:0x[0-9a-f]+|\d+)(?![\w:>\]])")
# A number that is set to its bound if it lies beyond it.
_BOUND = re.compile(r"\s*if \((.+) ([<>]) (.+)\) {$")
_BOUND_CHOICE = re.compile(r"> (0x[0-9a-f]+)(?= \? \1 :)")
# Sizes of objects, which no packet meets, the preprocessor's lines, and the ends of what is drawn: one draw
# of 2^16.
_NO_CODE = re.compile(r"^\s*(#|//|@|typedef|register<|size =|counter\(|[A-Z_]+\(|random<)")
# The first value of a variable that the block sets before it is read.
_FIRST_VALUE = re.compile(r"^ {8}(?! |hdr\.)[\w<> .]+ = (?:0|[A-Z_]+);$")


@dataclass(frozen=True)
class Mutant:
    """A control with one token changed."""

    control: Path
    line: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.control.name}:{self.line}: {self.before.strip()} => {self.after.strip()}"

    @property
    def key(self) -> str:
        """What names it in `survivors.toml`: no line number, which other changes move."""
        return f"{self.control.name}: {self.before.strip()} => {self.after.strip()}"

    def text(self) -> str:
        """The whole control."""
        lines = self.control.read_text(encoding="utf-8").splitlines(keepends=True)
        lines[self.line - 1] = self.after
        return "".join(lines)


def mutants(control: Path) -> Iterator[Mutant]:
    """All mutants of a control, in the order of its text."""
    lines = control.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, (line, next_line) in enumerate(zip(lines, [*lines[1:], ""], strict=True), 1):
        if _NO_CODE.match(line) or _FIRST_VALUE.match(line):
            continue
        code = line.partition("//")[0]
        bound = _BOUND.match(code)
        is_bound = bound is not None and next_line.strip() == f"{bound[1]} = {bound[3]};"
        for start, end, changed in sorted(_changes(code)):
            # At its bound a number is set to what it is.
            if is_bound and bound is not None and start == bound.start(2):
                continue
            yield Mutant(control, number, line, line[:start] + changed + line[end:])


def _changes(code: str) -> Iterator[tuple[int, int, str]]:
    """Where a line's tokens begin and end, with what takes their place."""
    bounds = [found.span() for found in _BOUND_CHOICE.finditer(code)]
    for start, end, changed in _tokens(code):
        if not any(first <= start < last for first, last in bounds):
            yield start, end, changed


def _tokens(code: str) -> Iterator[tuple[int, int, str]]:
    for found in _OPERATOR.finditer(code):
        yield *found.span(), OPERATORS[found.group()]
    declared = re.match(r"\s*const [^=]*= ", code)
    for found in _NAME.finditer(code, declared.end() if declared else 0):
        yield *found.span(), f"({found.group()} + 1)"
    for found in _NUMBER.finditer(code):
        number = int(found.group(), 0)
        # The largest number of a width has no neighbour above.
        yield *found.span(), str(number - 1 if found.group().startswith("0xff") else number + 1)


def includers(control: Path) -> list[str]:
    """Programs that include a control, by architecture and name: `tna/ecn_dual`."""
    found: list[str] = []
    for architecture in ARCHITECTURES:
        programs = sorted((ROOT / "p4src" / architecture).glob("*.p4"))
        found += [f"{architecture}/{program.stem}" for program in programs if control in _included(program)]
    return found


def _included(file: Path) -> set[Path]:
    """A file with everything that it includes."""
    found: set[Path] = set()
    waiting = [file.resolve()]
    while waiting:
        file = waiting.pop()
        if file in found or not file.is_file():
            continue
        found.add(file)
        names = re.findall(r'^#include "([^"]+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
        waiting += [(file.parent / name).resolve() for name in names]
    return found


@dataclass(frozen=True)
class Programs:
    """The programs of the tests, built once: a mutant is another folder of P4 sources to them."""

    cases: str
    packets: str

    @classmethod
    def build(cls) -> Programs:
        """What cargo makes of the text cases and of the packet tests."""
        return cls(_built("p4cc-filetests", "cases"), _built("p4cc-switch", "p4src"))


def _built(package: str, test: str) -> str:
    command = ["cargo", "checked", "--locked", "--quiet", "--package", package, "--test", test, "--no-run"]
    done = subprocess.run(
        [*command, "--message-format", "json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    # A package's own programs are built with its tests.
    messages = map(json.loads, done.stdout.splitlines())
    return next(found["executable"] for found in messages if found.get("target", {}).get("name") == test)


class Copy:
    """A copy of the P4 sources, and of the cases that include them, for one run of the tests at a time."""

    def __init__(self, folder: Path, programs: Programs) -> None:
        self.programs = programs
        self.sources = folder / "p4src"
        self.cases = folder / CASES.relative_to(ROOT)
        shutil.copytree(ROOT / "p4src", self.sources)
        shutil.copytree(CASES / "run" / "include", self.cases / "run" / "include")
        for case in (CASES / "run").glob("control_*.p4"):
            shutil.copy(case, self.cases / "run")

    def outcome(self, mutant: Mutant, includers: list[str], same: list[bytes] | None) -> Outcome:
        """What becomes of a mutant."""
        copy = self.sources / "controls" / mutant.control.name
        original = copy.read_bytes()
        copy.write_text(mutant.text(), encoding="utf-8")
        try:
            if configs(self.sources, includers) in (None, same):
                return Outcome.SAME
            return Outcome.SURVIVED if self._passes(mutant.control, includers) else Outcome.KILLED
        finally:
            copy.write_bytes(original)

    def _passes(self, control: Path, includers: list[str]) -> bool:
        """Whether all tests pass that run a control: first those about it, then those of its programs."""
        about = MODULES.get(control.stem, (control.stem,))
        names = {name.rpartition("/")[2] for name in includers} | {"own", "v1model_only"}
        return (
            self._run(self.programs.cases, ["programs_do_what_their_cases_say"])
            and self._run(self.programs.packets, [*about, "--skip", LONG])
            and self._run(self.programs.packets, sorted(names))
        )

    def _run(self, program: str, words: list[str]) -> bool:
        environment = os.environ | {"P4CC_P4SRC_DIR": str(self.sources), "P4CC_CASES_DIR": str(self.cases)}
        command = [*cpu_limit(LIMIT_S), program, "--quiet", *words]
        return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0


def configs(sources: Path, programs: list[str]) -> list[bytes] | None:
    """What one program of each architecture compiles to; none if one does not compile."""
    found: list[bytes] = []
    for name in {name.partition("/")[0]: name for name in programs}.values():
        compiled = compile_program(sources / f"{name}.p4")
        if not compiled.ok:
            return None
        found.append(compiled.device_config())
    return found


def run(control: Path, copies: Queue[Copy], pool: ThreadPoolExecutor) -> Counts:
    """Runs all mutants of a control and prints those that survive."""
    programs = includers(control)
    same = configs(ROOT / "p4src", programs)

    def outcome(mutant: Mutant) -> Outcome:
        copy = copies.get()
        try:
            return copy.outcome(mutant, programs, same)
        finally:
            copies.put(copy)

    counts, listed = Counts(), reasons("p4")
    made = list(mutants(control))
    for mutant, what in zip(made, pool.map(outcome, made), strict=True):
        counts.count(what, str(mutant), mutant.key, listed)
    return counts


def main() -> int:
    """Parse the command line; 0 if every survivor is listed, 1 if not."""
    parser = argparse.ArgumentParser(prog="tests.mutants.p4_controls", description="Mutants of the P4 controls.")
    parser.add_argument(
        "controls", nargs="*", metavar="CONTROL", help="names as in p4src/controls, all if none is given"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs of tests at once")
    options = parser.parse_args()
    chosen = [file for file in sorted(CONTROLS.glob("*.p4")) if not options.controls or file.stem in options.controls]
    if options.list:
        sys.stdout.writelines(f"{mutant}\n" for file in chosen for mutant in mutants(file))
        return 0
    return measure(chosen, Programs.build(), options.jobs)


def measure(controls: list[Path], programs: Programs, jobs: int) -> int:
    """Prints the table of these controls; 0 if every survivor is listed, 1 if not."""
    total, copies = Counts(), Queue[Copy]()
    with tempfile.TemporaryDirectory(prefix="p4cc-mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        for job in range(jobs):
            copies.put(Copy(Path(folder) / str(job), programs))
        sys.stdout.write(HEAD)
        for control in controls:
            counts = run(control, copies, pool)
            sys.stdout.write(counts.row(f"`{control.name}`"))
            sys.stdout.flush()
            total.add(counts)
    sys.stdout.write(total.row("all"))
    return 1 if total.survived else 0


if __name__ == "__main__":
    sys.exit(main())
