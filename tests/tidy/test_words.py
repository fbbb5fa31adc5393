"""Words that said nothing to a reader from the field are gone: identifiers, names of files, terms of documents.

ARCHITECTURE.md ("Glossary") has the words in their place. A word with a proper use elsewhere is forbidden only in the
folders where it had another meaning.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ("engine/netsim/src", "engine/exec/src", "engine/switch/src")
NETSIM = ("engine/netsim/src",)

# Whole identifiers of Rust code, by the folders where none has that name.
IDENTIFIERS = [
    (
        ENGINE,
        """Agenda Listed Turn Turns Seat Ordered Districts Parts Pace Evenness Meeting Told Mail Halves MadeHalves
        Piece Pieces MadePieces Door Gate PassEnd Passage Passed Onward Named Home Place VectorPlaces Outcome Ahead
        Machine agenda district districts witness evenness windows_apart fetch_ahead await_turn took_turn in_turn
        set_turns has_turns pass_plainly is_open straight goes_straight asks_at asked_until obeyed_until looped
        TOLD_STRAIGHT FABRIC_TIMER""",
    ),
    (NETSIM, "EventQueue Fabric turn turns patience stretch halves unite ordered mail told tell ahead cut"),
]

# Names of source files and folders, without their ending.
FILES = [
    (ENGINE, "turn turns agenda lists ordered districts parts cut ahead halves half clear facts direct asking"),
    (NETSIM, "fabric interfaces paced wheel ties"),
]

# Terms, as documents for readers of today would use them.
TERMS = re.compile(
    r"\b(?:agenda|districts?|evenness|patience|goes straight on|straight on|take turns within|cut anew|both halves"
    r"|stretch(?:es)? of (?:virtual )?time|register machine)\b",
    re.IGNORECASE,
)
DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "docs/")
# Logs keep the words of their time; the glossary says what the interpreter is.
NOT_READ = ("docs/log/", "docs/explanation/executor.md", "ARCHITECTURE.md")


def tracked(prefixes: tuple[str, ...], suffix: str) -> list[Path]:
    """Files that git tracks below these paths."""
    git = shutil.which("git")
    assert git is not None, "git lists the files"
    listing = subprocess.run([git, "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = [name for name in listing.splitlines() if name.startswith(prefixes) and name.endswith(suffix)]
    found = [ROOT / name for name in names if (ROOT / name).is_file()]
    assert found, f"no {suffix} files below {prefixes}"
    return found


def identifiers(text: str) -> set[str]:
    """Identifiers of Rust code; comments, texts and names within attributes do not count."""
    code = re.sub(r'"(?:[^"\\]|\\.)*"|//[^\n]*', " ", text)
    return set(re.findall(r"\b[A-Za-z_]\w*\b", code))


@pytest.mark.parametrize(("folders", "words"), IDENTIFIERS, ids=["engine", "netsim"])
def test_no_identifier_is_an_old_word(folders: tuple[str, ...], words: str) -> None:
    old = set(words.split())
    found = {
        str(path.relative_to(ROOT)): sorted(both)
        for path in tracked(folders, ".rs")
        if (both := identifiers(path.read_text(encoding="utf-8")) & old)
    }
    assert not found, f"ARCHITECTURE.md has the field's words: {found}"


@pytest.mark.parametrize(("folders", "words"), FILES, ids=["engine", "netsim"])
def test_no_file_has_an_old_name(folders: tuple[str, ...], words: str) -> None:
    old = set(words.split())
    found = [
        str(path.relative_to(ROOT))
        for path in tracked(folders, ".rs")
        if old & {part.removesuffix(".rs") for part in path.relative_to(ROOT).parts}
    ]
    assert not found, f"ARCHITECTURE.md has the field's words: {found}"


def test_no_document_uses_an_old_term() -> None:
    found = [
        f"{name}:{number}: {match.group(0)}"
        for path in tracked(DOCUMENTS, ".md")
        if not (name := str(path.relative_to(ROOT))).startswith(NOT_READ)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for match in TERMS.finditer(line)
    ]
    assert not found, f"ARCHITECTURE.md has the field's words: {found}"


def test_an_old_word_is_found() -> None:
    assert identifiers('struct Turns { x: Wheel } // Door\n let s = "Gate";') >= {"Turns", "Wheel"}
    assert not identifiers('// Door\n let s = "Gate";') & {"Door", "Gate"}
    assert TERMS.search("From four switches on, Districts take turns.")
