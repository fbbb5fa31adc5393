"""The repository's rules that a machine can keep: sizes, and what code must not contain (ARCHITECTURE.md)."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_LINES = 800
SOURCES = (".rs", ".py", ".p4")
GENERATED = ("p4cc/spec.py",)
"""Files that are made from others, however long."""
MAX_COMMENT_COLUMNS = 110
COMMENT = {".rs": "//", ".p4": "//", ".py": "#", ".pyi": "#", ".yaml": "#", ".toml": "#", ".sh": "#"}

# What a folder's non-test code never contains, with the invariant that forbids it.
SANS_IO = (
    "engine/switch",
    "engine/netsim",
    "engine/exec",
    "engine/budget",
    "engine/ir",
    "engine/types",
    "engine/check",
    "engine/lower",
    "engine/compile",
    "engine/bmv2json",
    "host_agents/cc",
    "host_agents/transport",
)
ABSENCES: list[tuple[tuple[str, ...], str, str]] = [
    (SANS_IO, r"std::time|Instant::now|SystemTime", "reads no clock"),
    (SANS_IO, r"std::net|UdpSocket|TcpStream|TcpListener", "opens no socket"),
    (SANS_IO, r"\b(e?println|tracing|log)!|\b(tracing|log)::", "logs nothing"),
    (SANS_IO, r"collections::(HashMap|HashSet)|collections::\{[^}]*Hash(Map|Set)", "keeps ordered maps only"),
    (
        ("engine/netsim", "host_agents/cc", "host_agents/transport"),
        r"\.(powf|powi|exp|exp2|ln|log2|log10|sqrt|cbrt)\(",
        "uses libm, which is the same on every machine",
    ),
    (("engine/netsim/src/links", "engine/netsim/src/switches"), r"(?i)\becn|codepoint|\bmark", "knows no ECN bit"),
    (("engine/netsim",), r"\b(?:state|pre|chip)(?:_of)?_mut\(|\bset_state\(", "changes no table"),
    (
        ("engine", "host_agents"),
        r"\btodo!|\bunimplemented!",
        "holds no stub",
    ),
]
ONLY_IN = [
    (r"\bpyo3\b", ("engine/py",), "one crate names pyo3"),
    (r"\btokio::|\basync fn\b", ("engine/p4runtime", "engine/bfrt"), "the gRPC servers are async, nothing else"),
]


def tracked(*suffixes: str) -> list[Path]:
    """Files that git tracks, by suffix."""
    git = shutil.which("git")
    assert git is not None, "git lists the files"
    listing = subprocess.run([git, "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listing.splitlines() if name.endswith(suffixes) and (ROOT / name).exists()]


def production(path: Path) -> str:
    """Text of a Rust file without its unit tests, comments and doc comments."""
    text = path.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests {")[0]
    return re.sub(r"//[^\n]*", "", text)


def is_test(path: Path) -> bool:
    """Whether a file is a test, bench or example by its place."""
    return (
        bool({"tests", "benches", "examples", "filetests"} & set(path.relative_to(ROOT).parts)) or path.stem == "tests"
    )


def test_files_stay_short() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked(*SOURCES)
        if not str(path).endswith(GENERATED)
        and (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    }
    assert not long, f"split by subject: {long}"


@pytest.mark.parametrize(("folders", "pattern", "rule"), ABSENCES, ids=[rule for _, _, rule in ABSENCES])
def test_absent(folders: tuple[str, ...], pattern: str, rule: str) -> None:
    prefixes = tuple(str(ROOT / folder) + "/" for folder in folders)
    found = [
        f"{path.relative_to(ROOT)}: {match.group(0)}"
        for path in tracked(".rs")
        if str(path).startswith(prefixes) and not is_test(path)
        for match in re.finditer(pattern, production(path))
    ]
    assert not found, f"{rule}: {found}"


@pytest.mark.parametrize(("pattern", "homes", "rule"), ONLY_IN, ids=[rule for _, _, rule in ONLY_IN])
def test_only_in(pattern: str, homes: tuple[str, ...], rule: str) -> None:
    prefixes = tuple(str(ROOT / home) + "/" for home in homes)
    found = [
        str(path.relative_to(ROOT))
        for path in tracked(".rs")
        if not str(path).startswith(prefixes) and re.search(pattern, production(path))
    ]
    assert not found, f"{rule}: {found}"


# An allowance of dead code, whichever way it is spelt: in an attribute, behind a condition, or in a manifest.
DEAD_CODE = re.compile(
    r"\b(?:allow|expect)\s*\([^()]*\b(?:dead_code|unused)\b"
    r"|\b(?:dead_code|unused)\s*=\s*(?:\"allow\"|\{[^}]*\"allow\")"
    r"|-A\s*(?:dead[_-]code|unused)\b"
)


@pytest.mark.parametrize(
    "text",
    [
        "#[allow(dead_code)]",
        '#[expect(dead_code, reason = "later")]',
        '#[cfg_attr(not(test), allow(unused_mut, dead_code, reason = "for tests"))]',
        "#![allow(unused)]",
        'dead_code = "allow"',
        'dead_code = { level = "allow" }',
        'rustflags = ["-Adead_code"]',
    ],
)
def test_a_spelling_of_dead_code_is_found(text: str) -> None:
    assert DEAD_CODE.search(text)


def test_no_dead_code_is_allowed() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {match.group(0)}"
        for path in tracked(".rs", ".toml")
        for match in DEAD_CODE.finditer(path.read_text(encoding="utf-8"))
    ]
    assert not found, f"delete what nothing uses: {found}"


def test_only_top_programs_include_an_architecture() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in tracked(".p4")
        if path.is_relative_to(ROOT / "p4src")
        and path.parent not in (ROOT / "p4src" / "v1model", ROOT / "p4src" / "tna")
        and re.search(r"#include\s*<(v1model|psa|tna)\.p4>", path.read_text(encoding="utf-8"))
    ]
    assert not found, f"an architecture comes in with the top program: {found}"


# Types, functions and state of PFC, in the switch and in the simulator.
PFC = re.compile(r"\b(?:PauseFrame|PauseCounters|pause_frames?|paused(?:_since|_ns)?|set_paused|pfc)\b")


def test_pfc_is_named_where_it_is_done() -> None:
    folders = tuple(str(ROOT / folder) + "/" for folder in ("engine/switch/src", "engine/netsim/src"))
    sources = [path for path in tracked(".rs") if str(path).startswith(folders)]
    parts = [path for path in sources if PFC.search(production(path))]
    assert len(parts) > 10, "the pattern finds PFC's files"
    unnamed = [
        str(path.relative_to(ROOT))
        for path in parts
        if "PFC (IEEE 802.1Qbb)"
        not in " ".join(re.findall(r"^//!\s?(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE))
    ]
    assert not unnamed, f"say `PFC (IEEE 802.1Qbb)` in the module document: {unnamed}"


def test_unsafe_only_with_a_proof() -> None:
    found: list[str] = []
    for path in tracked(".rs"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            proof = any("SAFETY" in above for above in lines[max(0, number - 6) : number])
            if re.search(r"\bunsafe\s*(\{|fn|impl)", line) and not proof:
                found.append(f"{path.relative_to(ROOT)}:{number + 1}")
    assert not found, f"state the proof in a SAFETY comment: {found}"


def test_comments_stay_narrow() -> None:
    wide = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in tracked(*COMMENT)
        if "engine/filetests/cases" not in str(path)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if line.lstrip().startswith(COMMENT[path.suffix])
        and len(line.expandtabs(4)) > MAX_COMMENT_COLUMNS
        and len(line.split()) > 2  # One long word, such as a link, has no place to break.
    ]
    assert not wide, f"comments within {MAX_COMMENT_COLUMNS} columns: {wide}"
