"""The feedback option of TCP in Wireshark: the fields of docs/reference/wire-format.md, and options that are none."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.p4cc.dissector.test_dissector import capture_of, ipv4, made, shown
from tests.p4cc.dissector.test_four_alike import number, odd, packed
from tests.p4cc.dissector.wire_format import PAGE, cells, layouts

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "Feedback option"
TREE = "p4cc feedback option"
FIELDS = ("kind", "length", "id", "version", "k", "kdc")
ACK, SYN = 0x10, 0x02


def examples() -> list[bytes]:
    """The page's: an offer, and a report."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {HEADING}")[1].split("\n## ")[0]
    return [bytes.fromhex(line) for line in section.split("```")[1].strip().splitlines()]


def segment(flags: int, *options: bytes) -> bytes:
    """An Ethernet frame with a segment of TCP."""
    whole = b"".join(options)
    whole += bytes(-len(whole) % 4)
    return ipv4(6, struct.pack(">HHIIBBHHH", 50_000, 5_001, 1, 1, (20 + len(whole)) << 2, flags, 100, 0, 0) + whole)


def fields(folder: Path, *frames: bytes) -> list[dict[str, int]]:
    """What tshark shows of the option in each frame."""
    if (tshark := shutil.which("tshark")) is None:
        pytest.skip("tshark is not installed (Debian package tshark)")
    capture = capture_of(folder, *frames)
    words = [tshark, "-X", f"lua_script:{made(folder)}", "-r", str(capture), "-T", "fields"]
    words += [word for name in FIELDS for word in ("-e", f"p4cc_feedback.{name}")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    rows = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.split("\n")[:-1]]
    return [{name: number(text) for name, text in row.items() if text} for row in rows]


def test_tshark_shows_the_pages_fields(tmp_path: Path) -> None:
    layout = layouts(HEADING)["header"]
    constant = {name: int(value, 0) for _, _, name, value, _ in cells(HEADING) if re.fullmatch(r"\w+", value)}
    values = odd(layout) | {name: constant[name] for name in ("kind", "length", "id")}
    (report,) = fields(tmp_path, segment(ACK, packed(layout, values)))
    assert report == values


def test_tshark_reads_the_pages_examples(tmp_path: Path) -> None:
    offer, report = examples()
    timestamps = bytes([1, 1, 8, 10]) + bytes(8)
    shown_offer, shown_report = fields(tmp_path, segment(SYN, offer), segment(ACK, timestamps, report))
    head = {"kind": 254, "length": 12, "id": 0x5034}
    assert shown_offer == head | {"version": 1}
    assert shown_report == head | {"k": 2_619, "kdc": 873}


def test_what_is_no_such_option_is_not_shown(tmp_path: Path) -> None:
    report = examples()[1]
    others = (
        b"\xfe\x0c\x12\x34" + report[4:],
        # Behind the end of the list, within another option, and cut by the header's length.
        b"\0" + report,
        bytes([253, 16, 0, 0]) + report,
        b"\xfe\x10\x50\x34" + report[4:],
        b"\xfe\x02\x50\x34",
    )
    assert fields(tmp_path, *(segment(ACK, option) for option in others)) == [{}] * len(others)


def test_a_wrong_length_is_marked(tmp_path: Path) -> None:
    text = shown(capture_of(tmp_path, segment(ACK, b"\xfe\x08\x50\x34" + bytes(4))), made(tmp_path))
    assert TREE in text
    assert "The receiver refuses this length" in text
    assert "Packets above K" not in text
