"""Mutants of Rust files, all in one build, and the tests that kill them (docs/how-to/mutation-testing.md).

    python -m tests.mutants.rust_sources cc|tm [FILE ...] [--list]

A build for each mutant takes hours here. So each operator `a < b` becomes `if mutant(7) { a <= b } else { a < b }` in a
copy of the sources, which is built once; the environment says which mutant a run of the tests has. What has to be
known when it is built (constants, patterns, macros, attributes) has no mutants. A mutant survives if no test fails;
`survivors.toml` says why one may.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

from tests.mutants.outcome import HEAD, Counts, Outcome, cpu_limit, reasons

ROOT = Path(__file__).resolve().parents[2]
COPY = ROOT / "target" / "mutants" / "source"
BUILT = ROOT / "target" / "mutants" / "built"
"""A folder of its own: cargo takes the copy's crates for those of the repository, whose sources it then never reads."""
ENVIRONMENT = "P4CC_MUTANT"


@dataclass(frozen=True)
class Kind:
    """What is mutated, and which tests are to see it."""

    package: str
    root: str
    folder: str
    files: tuple[str, ...]
    tests: tuple[str, ...]


KINDS = {
    "cc": Kind("p4cc-cc", "host_agents/cc/src/lib.rs", "host_agents/cc/src", ("**/*.rs",), ("--lib",)),
    "tm": Kind(
        "p4cc-switch", "engine/switch/src/lib.rs", "engine/switch/src", ("tm*.rs",), ("--lib", "--test", "replication")
    ),
}

BINARY = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*", "<<": ">>", ">>": "<<",
}  # fmt: skip
ASSIGNED = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
METHODS = {
    "max": "min", "min": "max", "saturating_sub": "saturating_add", "saturating_add": "saturating_sub",
    "is_some": "is_none", "is_none": "is_some", "is_some_and": "is_none_or", "is_none_or": "is_some_and",
}  # fmt: skip
# What only tests use, and what only says how errors read.
UNTESTED = ("testing.rs", "error.rs")
# What is evaluated when it is built, or is no expression.
SKIPPED = {
    "const_item", "static_item", "macro_invocation", "macro_definition", "attribute_item", "array_type",
    "type_arguments", "enum_item", "match_pattern", "let_condition_pattern",
}  # fmt: skip

SWITCH = f'''
/// Whether this run has the mutant of this number.
pub(crate) fn is_mutant(number: usize) -> bool {{
    static CHOSEN: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    let chosen = || std::env::var("{ENVIRONMENT}").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    *CHOSEN.get_or_init(chosen) == number
}}
'''


LIMIT_S, LEAST_LIMIT_S, TIMES = 60, 5, 4
"""A mutant that never ends is killed by its processor time: many times that of the tests without a mutant."""
NUMBER = re.compile(r"is_mutant\((\d+)\)")


@dataclass(frozen=True)
class Mutant:
    """One operator of a file, changed."""

    number: int
    file: str
    line: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """What names it in `survivors.toml`: no line number, which other changes move."""
        return f"{self.file}: {self.before} => {self.after}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before} => {self.after}"


class Switched:
    """Files with every mutant in them, behind a switch."""

    def __init__(self, dropped: set[int]) -> None:
        self.parser = Parser(Language(tree_sitter_rust.language()))
        self.dropped = dropped
        """Numbers of mutants that do not compile."""
        self.mutants: list[Mutant] = []

    def text(self, name: str, source: bytes) -> str:
        """A file's text with its mutants; those of its unit tests are none."""
        self._name = name
        return self._text(self.parser.parse(source).root_node)

    def _text(self, node: Node) -> str:
        """A node's text, with the mutants of what is in it."""
        whole = node.text or b""
        if node.type in SKIPPED or _is_test(node) or _is_const(node):
            return whole.decode()
        parts: list[str] = []
        at = node.start_byte
        for child in node.children:
            parts += [whole[at - node.start_byte : child.start_byte - node.start_byte].decode(), self._text(child)]
            at = child.end_byte
        parts.append(whole[at - node.start_byte :].decode())
        text = "".join(parts)
        for changed, shown in _changes(node):
            self.mutants.append(
                Mutant(len(self.mutants) + 1, self._name, node.start_point.row + 1, _flat(node), _one_line(shown))
            )
            if len(self.mutants) in self.dropped:
                continue
            # Only the mutant's own form is in its branch: one run has one mutant.
            branch = f"if crate::is_mutant({len(self.mutants)}) {{ {changed} }} else {{ {text} }}"
            text = branch if node.type == "compound_assignment_expr" else f"({branch})"
        return text


def _changes(node: Node) -> Iterator[tuple[str, str]]:
    """A node's text with one token changed, as code and as shown."""
    source = (node.text or b"").decode()
    found: tuple[Node, str] | None = None
    if node.type == "binary_expression":
        operator = node.child_by_field_name("operator")
        if operator is not None and (changed := BINARY.get(operator.type)) is not None:
            found = (operator, changed)
    elif node.type == "compound_assignment_expr":
        operator = node.child_by_field_name("operator")
        if operator is not None and (changed := ASSIGNED.get(operator.type)) is not None:
            found = (operator, changed)
    elif node.type == "unary_expression" and source.startswith("!"):
        yield source[1:], source[1:]
    elif node.type == "call_expression":
        function = node.child_by_field_name("function")
        field = function.child_by_field_name("field") if function and function.type == "field_expression" else None
        if field is not None and (changed := METHODS.get((field.text or b"").decode())) is not None:
            found = (field, changed)
    if found is None or _holds_let(node):
        return
    token, changed = found
    raw = node.text or b""
    start, end = token.start_byte - node.start_byte, token.end_byte - node.start_byte
    yield (mutated := raw[:start].decode() + changed + raw[end:].decode()), mutated


def _holds_let(node: Node) -> bool:
    """Whether a chain of conditions binds names, which a branch would hide."""
    return any(
        child.type == "let_condition" or _holds_let(child)
        for child in node.children
        if child.type in ("binary_expression", "let_condition", "let_chain")
    )


def _is_test(node: Node) -> bool:
    before = node.prev_named_sibling
    while before is not None and before.type in ("attribute_item", "line_comment"):
        if b"cfg(test)" in (before.text or b""):
            return True
        before = before.prev_named_sibling
    return False


def _is_const(node: Node) -> bool:
    return node.type == "function_item" and any(
        child.type == "function_modifiers" and b"const" in (child.text or b"") for child in node.children
    )


def _flat(node: Node) -> str:
    return _one_line((node.text or b"").decode())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def copy_sources() -> None:
    """What cargo needs of the working tree, with the times of its files: only mutated crates are built anew."""
    shutil.rmtree(COPY, ignore_errors=True)
    COPY.mkdir(parents=True)
    for name in ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml"):
        shutil.copy2(ROOT / name, COPY / name)
    for name in ("engine", "host_agents", "fuzz", "p4src"):
        shutil.copytree(ROOT / name, COPY / name, ignore=shutil.ignore_patterns("__pycache__"))
    if not BUILT.exists() and (ROOT / "target" / "release").exists():
        # What other crates made is not built again.
        shutil.copytree(ROOT / "target" / "release", BUILT / "release", symlinks=True)


def switched(kind: Kind, patterns: list[str], dropped: set[int]) -> list[Mutant]:
    """Writes the mutated files into the copy and gives their mutants."""
    made = Switched(dropped)
    folder = ROOT / kind.folder
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        if path.name not in UNTESTED:
            name = str(path.relative_to(folder))
            (COPY / kind.folder / name).write_text(made.text(name, path.read_bytes()), encoding="utf-8")
    root = COPY / kind.root
    text = root.read_text(encoding="utf-8")
    root.write_text(text.removesuffix(SWITCH) + SWITCH, encoding="utf-8")
    return [mutant for mutant in made.mutants if mutant.number not in dropped]


def build(kind: Kind, patterns: list[str]) -> tuple[list[Mutant], list[str]]:
    """The mutants that compile, and the programs of the tests: an error names the mutants that do not."""
    dropped: set[int] = set()
    while True:
        mutants = switched(kind, patterns, dropped)
        programs, errors = _build(kind)
        if not errors:
            return mutants, programs
        wrong = {number for error in errors for number in _mutants_of(error)} - dropped
        if not wrong:
            sys.exit("\n".join(str(error["rendered"]) for error in errors))
        dropped |= wrong


def _build(kind: Kind) -> tuple[list[str], list[dict[str, Any]]]:
    # The alias would be read twice, here and from the folder around the copy.
    command = ["cargo", "test", "--config", "engine/tests.toml", "--release", "--locked", "--quiet", "--no-run"]
    command += ["--message-format", "json", "--package", kind.package, *kind.tests]
    environment = os.environ | {"CARGO_TARGET_DIR": str(BUILT)}
    done = subprocess.run(command, cwd=COPY, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    programs = [message["executable"] for message in messages if message.get("executable")]
    texts = [found["message"] for found in messages if found["reason"] == "compiler-message"]
    return programs, [text for text in texts if text["level"] == "error" and done.returncode != 0]


def _mutants_of(error: dict[str, Any]) -> set[int]:
    """The mutants in whose branches an error is."""
    found: set[int] = set()
    for span in error["spans"]:
        before = span["text"][0]["text"][: span["column_start"]] if span["is_primary"] and span["text"] else ""
        found.update(int(number) for number in NUMBER.findall(before)[-1:])
    return found


def is_killed(mutant: int, file: str, programs: list[str], limit_s: int) -> bool:
    """Whether a test fails: first those of the file, then all."""
    environment = os.environ | cargo_environment() | {ENVIRONMENT: str(mutant), "RUST_TEST_THREADS": "1"}
    module = file.removesuffix(".rs").removesuffix("/mod").replace("/", "::")

    def passes(words: list[str]) -> bool:
        return all(
            subprocess.run(
                [*cpu_limit(limit_s), program, "--quiet", *words],
                env=environment,
                cwd=COPY,
                capture_output=True,
                check=False,
            ).returncode
            == 0
            for program in programs
        )

    return not (passes([f"{module}::tests"]) and passes([]))


@cache
def cargo_environment() -> dict[str, str]:
    """What cargo gives the tests' programs, such as the seed of property tests."""
    with (ROOT / ".cargo" / "config.toml").open("rb") as file:
        return tomllib.load(file)["env"]


def main() -> int:
    """Parse the command line; 0 if every survivor is listed, 1 if not."""
    parser = argparse.ArgumentParser(prog="tests.mutants.rust_sources", description="Mutants of Rust files.")
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="below the crate's src, all of the kind if none is given"
    )
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs of tests at once")
    options = parser.parse_args()
    kind = KINDS[options.kind]
    patterns: list[str] = options.files or list(kind.files)
    copy_sources()
    if options.list:
        sys.stdout.writelines(f"{mutant}\n" for mutant in switched(kind, patterns, set()))
        return 0
    mutants, programs = build(kind, patterns)
    return measure(mutants, programs, reasons(options.kind), options.jobs)


def measure(mutants: list[Mutant], programs: list[str], listed: dict[str, str], jobs: int) -> int:
    """Prints the table of these mutants; 0 if every survivor is listed, 1 if not."""
    before_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    if is_killed(0, "", programs, LIMIT_S):
        sys.exit("the tests fail without a mutant")
    # Twice all tests: none is of module "".
    without_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before_s
    limit_s = min(LIMIT_S, max(LEAST_LIMIT_S, round(TIMES * without_s)))

    def outcome(mutant: Mutant) -> Outcome:
        return Outcome.KILLED if is_killed(mutant.number, mutant.file, programs, limit_s) else Outcome.SURVIVED

    sys.stdout.write(HEAD)
    total = Counts()
    with ThreadPoolExecutor(jobs) as pool:
        for file in dict.fromkeys(mutant.file for mutant in mutants):
            own = [mutant for mutant in mutants if mutant.file == file]
            counts = Counts()
            for mutant, what in zip(own, pool.map(outcome, own), strict=True):
                counts.count(what, str(mutant), mutant.key, listed)
            sys.stdout.write(counts.row(f"`{file}`"))
            sys.stdout.flush()
            total.add(counts)
    sys.stdout.write(total.row("all"))
    return 1 if total.survived else 0


if __name__ == "__main__":
    sys.exit(main())
