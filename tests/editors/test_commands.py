"""`p4cc lsp` speaks the protocol; `p4cc fmt` writes one style."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

P4CC = str(Path(sys.executable).with_name("p4cc"))
PATIENCE_S = 60
PROGRAM = "header h_t {\n  bit<8>  a;\n}\n\n\nconst bit<8> X=1;\n"
STYLED = "header h_t {\n    bit<8> a;\n}\n\nconst bit<8> X = 1;\n"


def message(method: str, number: int | None = None, **params: object) -> bytes:
    """A message as the protocol frames it."""
    content: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    content |= {} if number is None else {"id": number}
    content |= {"params": params} if params else {}
    body = json.dumps(content).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def lsp(*sent: bytes) -> subprocess.CompletedProcess[bytes]:
    """What the server says to some messages."""
    return subprocess.run([P4CC, "lsp"], input=b"".join(sent), capture_output=True, timeout=PATIENCE_S, check=False)


def test_the_server_starts_and_ends_as_the_protocol_wants() -> None:
    ran = lsp(
        message("initialize", 1, capabilities={}),
        message("initialized"),
        message("shutdown", 2),
        message("exit"),
    )
    assert ran.returncode == 0, ran.stderr
    assert b'"hoverProvider":true' in ran.stdout
    assert not ran.stderr


@pytest.mark.parametrize("sent", [b"", b"p4cc check\n", message("exit")])
def test_what_is_no_editor_gets_a_message(sent: bytes) -> None:
    ran = lsp(sent)
    assert ran.returncode == 2
    assert b"start `p4cc lsp` from an editor" in ran.stderr
    assert b"Traceback" not in ran.stderr


def fmt(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [P4CC, "fmt", *map(str, words)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def test_files_and_folders_get_the_style_once(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "main.p4"
    file.parent.mkdir()
    file.write_text(PROGRAM)
    (tmp_path / "notes.txt").write_text("a  b\n")
    checked = fmt("--check", tmp_path)
    assert (checked.returncode, checked.stdout) == (1, f"would change {file}\n")
    assert file.read_text() == PROGRAM
    formatted = fmt(tmp_path)
    assert (formatted.returncode, formatted.stdout) == (0, f"formatted {file}\n")
    assert file.read_text() == STYLED
    again = fmt("--check", file)
    assert (again.returncode, again.stdout) == (0, "")


@pytest.mark.parametrize(
    ("content", "cause"),
    [(b"/* open", "line 1: this comment has no end"), (b"\xff", "is not UTF-8"), (None, "No such file")],
)
def test_what_cannot_be_formatted_is_left_alone_with_a_message(
    tmp_path: Path, content: bytes | None, cause: str
) -> None:
    file = tmp_path / "main.p4"
    if content is not None:
        file.write_bytes(content)
    ran = fmt(file)
    assert ran.returncode == 2
    assert cause in ran.stderr
    assert content is None or file.read_bytes() == content


def test_the_programs_of_p4cc_have_the_style() -> None:
    ran = fmt("--check", Path(__file__).resolve().parents[2] / "p4src")
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_file_that_cannot_be_formatted_leaves_the_others_their_style(tmp_path: Path) -> None:
    bad, good = tmp_path / "a.p4", tmp_path / "b.p4"
    bad.write_text("#define A(x) x\nconst bit<8> X = \\\n 1;\n")
    good.write_bytes(PROGRAM.replace("\n", "\r\n").encode())
    good.chmod(0o640)
    ran = fmt(bad, good)
    assert (ran.returncode, ran.stdout) == (2, f"formatted {good}\n")
    assert "backslash" in ran.stderr
    assert good.read_bytes() == STYLED.replace("\n", "\r\n").encode()
    assert good.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.p4", "b.p4"]
