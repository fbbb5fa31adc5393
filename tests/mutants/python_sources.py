"""Mutants of the controller's planners, and the tests that kill them (docs/how-to/mutation-testing.md).

    python -m tests.mutants.python_sources [FILE ...] [--list]

A mutant is one operator of a module changed. A process that has pytest loaded forks for each: the child imports the
module with the change in it and runs the module's tests, then those of the whole plan. A mutant survives if no test
fails; `survivors.toml` says why one may.
"""

from __future__ import annotations

import argparse
import ast
import os
import resource
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_loader
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.mutants.outcome import HEAD, Counts, Outcome, reasons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType, ModuleType

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "controller"
TESTS = ROOT / "tests" / "controller"
# What chooses thresholds, curves, rates and gains; other modules write them into tables.
FILES = ("bolt.py", "d3.py", "dualpi2.py", "ecn.py", "model.py", "planner.py", "rcp.py", "red.py", "units.py")
WHOLE = ("test_plan.py", "test_planner.py")
LIMIT_S = 60
# Loaded once, for all children.
SHARED = (
    "anyio.pytest_plugin", "hypothesis.extra.pytestplugin", "hypothesis.strategies", "numpy", "pydantic",
    "pygments.lexers.diff", "pytest_asyncio", "topos", "typeguard", "unittest.mock", "xdist.newhooks",
)  # fmt: skip

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"), ast.NotIn: ("not in", "in"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "*"),
    ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
}  # fmt: skip
CALLS = {"max": "min", "min": "max", "floor": "ceil", "ceil": "floor"}


@dataclass(frozen=True)
class Mutant:
    """A module with one operator changed."""

    file: str
    line: int
    before: str
    after: str
    text: str
    """The whole module."""

    @property
    def key(self) -> str:
        """What names it in `survivors.toml`: no line number, which other changes move."""
        return f"{self.file}: {self.before} => {self.after}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} => {self.after}"


def mutants(name: str) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its text."""
    source = (FOLDER / name).read_text(encoding="utf-8")
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    texts = {id(node) for parent in ast.walk(tree) if isinstance(parent, ast.JoinedStr) for node in ast.walk(parent)}
    found: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        # Words of messages are no behaviour.
        if id(node) not in texts:
            found += _changes(node, source.encode(), starts)
    for start, end, changed in sorted(found):
        text = source.encode()[:start].decode() + changed + source.encode()[end:].decode()
        line = source.encode()[:start].decode().count("\n")
        before, after = (" ".join(one.splitlines()[line].split()) for one in (source, text))
        yield Mutant(name, line + 1, before, after, text)


def _changes(node: ast.AST, source: bytes, starts: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """Where a node's operators begin and end, with what takes their place."""

    def between(left: ast.expr, right: ast.expr, operator: ast.AST) -> Iterator[tuple[int, int, str]]:
        if (known := OPERATORS.get(type(operator))) is None:
            return
        assert left.end_lineno is not None
        assert left.end_col_offset is not None
        first = starts[left.end_lineno - 1] + left.end_col_offset
        at = source.index(known[0].encode(), first, starts[right.lineno - 1] + right.col_offset)
        yield at, at + len(known[0]), known[1]

    match node:
        case ast.Compare():
            for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                yield from between(left, right, operator)
        case ast.BoolOp():
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from between(left, right, node.op)
        case ast.BinOp():
            yield from between(node.left, node.right, node.op)
        case ast.UnaryOp(op=ast.Not()):
            start = starts[node.lineno - 1] + node.col_offset
            yield start, start + len("not "), ""
        case ast.Call(func=ast.Name(id=name)) if name in CALLS:
            start = starts[node.lineno - 1] + node.col_offset
            yield start, start + len(name), CALLS[name]
        case _:
            pass


class Loader(SourceFileLoader):
    """A module with another text than its file's."""

    def __init__(self, mutant: Mutant) -> None:
        """Of the module that the mutant changes."""
        super().__init__(f"controller.{Path(mutant.file).stem}", str(FOLDER / mutant.file))
        self._text = mutant.text

    def get_code(self, fullname: str) -> CodeType | None:
        """The changed module's."""
        del fullname
        return compile(self._text, self.path, "exec", dont_inherit=True)


class Finder(MetaPathFinder):
    """Finds the changed module before its file is found."""

    def __init__(self, mutant: Mutant) -> None:
        """Of one mutant."""
        self._loader = Loader(mutant)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The changed module, and no other."""
        del path, target
        return spec_from_loader(fullname, self._loader) if fullname == self._loader.name else None


def is_killed(mutant: Mutant | None, file: str) -> bool:
    """Whether a test fails: those of the module, then those of the plan."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] != 0
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        if mutant is not None:
            sys.meta_path.insert(0, Finder(mutant))
        code = int(any(_fails(words) for words in _stages(file)))
    finally:
        os._exit(code)


def _stages(file: str) -> Iterator[list[str]]:
    """Words for pytest: the quick tests of the module, then all of it, then those of the plan."""
    own = TESTS / f"test_{file}"
    if own.exists():
        yield [str(own), "-m", "not hypothesis"]
        yield [str(own)]
    yield [str(TESTS / name) for name in WHOLE if name != own.name]


def _fails(words: Sequence[str]) -> bool:
    code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *words])
    return code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def main() -> int:
    """Parse the command line; 0 if every survivor is listed, 1 if not."""
    parser = argparse.ArgumentParser(prog="tests.mutants.python_sources", description="Mutants of the planners.")
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="names as in controller, all planners if none is given"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    options = parser.parse_args()
    files: list[str] = options.files or list(FILES)
    if options.list:
        sys.stdout.writelines(f"{mutant}\n" for file in files for mutant in mutants(file))
        return 0
    return measure(files, reasons("planners"))


def measure(files: Sequence[str], listed: dict[str, str]) -> int:
    """Prints the table of these modules; 0 if every survivor is listed, 1 if not."""
    for name in SHARED:
        with suppress(ImportError):
            import_module(name)
    assert not any(name.partition(".")[0] == "controller" for name in sys.modules), "children import it themselves"
    sys.stdout.write(HEAD)
    total = Counts()
    for file in files:
        if is_killed(None, file):
            sys.exit(f"the tests of {file} fail without a mutant")
        counts = Counts()
        for mutant in mutants(file):
            what = Outcome.KILLED if is_killed(mutant, file) else Outcome.SURVIVED
            counts.count(what, str(mutant), mutant.key, listed)
        sys.stdout.write(counts.row(f"`{file}`"))
        sys.stdout.flush()
        total.add(counts)
    sys.stdout.write(total.row("all"))
    return 1 if total.survived else 0


if __name__ == "__main__":
    sys.exit(main())
