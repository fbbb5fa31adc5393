"""`p4cc dissector`: what tshark shows of captures with it, and hostile names and packets."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from p4cc.cli import app
from p4cc.dissector import lua
from p4cc.dissector.generate import program_dissector
from p4cc.errors import UserError
from tests.p4cc.scenarios import ROOT, run, scenario

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ROOT / "p4src" / "v1model"
TRACE = ROOT / "tests" / "p4cc" / "files" / "trace.p4"
"""IPv4 of protocol 150 carries a count and a stack of as many records, then a text of as many bytes as it says."""


def made(folder: Path, *words: str) -> Path:
    """The dissector that the command line writes."""
    path = folder / f"{len(list(folder.glob('*.lua')))}.lua"
    done = CliRunner().invoke(app, ["dissector", *words, "-o", str(path)])
    assert done.exit_code == 0, done.output
    return path


def shown(capture: Path, *dissectors: Path) -> str:
    """What tshark tells of a capture; a dissector's error fails the test."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed (Debian package tshark)")
    words = [tshark, *(word for path in dissectors for word in ("-X", f"lua_script:{path}")), "-r", str(capture), "-V"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert "Lua Error" not in done.stdout + done.stderr
    assert "lua:" not in done.stderr
    return "\n".join(line.strip() for line in done.stdout.splitlines())


def capture_of(folder: Path, *packets: bytes) -> Path:
    """A pcap file of Ethernet."""
    path = folder / "packets.pcap"
    whole = (struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet for packet in packets)
    path.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1) + b"".join(whole))
    return path


def ipv4(protocol: int, payload: bytes) -> bytes:
    """An Ethernet frame."""
    head = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0, 1, 2)
    return bytes(12) + b"\x08\x00" + head + payload


def test_tshark_shows_the_transport_header_and_the_programs_own(tmp_path: Path) -> None:
    switch = {"program": "p4src/v1model/ecn_dual.p4", "thresholds": {"k_rule": "fixed", "k_pkts": 20}}
    ran = run(tmp_path, scenario(switch=switch, record={"windows_interval_ns": None, "pcap": ["s1:5"]}))
    (capture,) = ran.outcome.folder.glob("pcap/*/*.pcapng")
    text = shown(capture, made(tmp_path), made(tmp_path, str(PROGRAMS / "ecn_dual.p4")))
    for line in (
        "p4cc transport",
        "Flow id: 1",
        ".... 0001 = Type: ACK (1)",
        "P4 program ecn_dual",
        "hdr.ipv4 (ipv4_h)",
        "dst_addr: 0x0a000005 (167772165)",
        "hdr.l4_ports (l4_ports_h)",
        "dst_port: 0xcc00 (52224)",
    ):
        assert f"\n{line}\n" in text


def test_stacks_varbits_and_loops_of_the_parser(tmp_path: Path) -> None:
    records = struct.pack(">II", 1 << 24 | 5, 2 << 24 | 6)
    whole = ipv4(150, struct.pack(">BBI", 0, 2, 0xDEADBEEF) + records)
    text = shown(capture_of(tmp_path, whole, whole[:45]), made(tmp_path, str(TRACE)))
    for line in ("hdr.trace (trace_t)", "asked_by: 0xdeadbeef", "hdr.records[1] (record_t)", "depth: 0x000006 (6)"):
        assert line in text
    assert text.count("hdr.records[") >= 2
    assert "is not whole: the packet, or what was captured of it, ends before" in text


HOSTILE = 'a"]] os.execute("touch hit") --\n\\\0ü'


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    """Names of BMv2 JSON may hold anything."""
    field = {"name": HOSTILE, "width": 8, "varbit": False, "var": 0}
    twice = {**field, "name": HOSTILE.upper(), "var": 1}
    parser: dict[str, Any] = {
        "headers": [{"name": HOSTILE, "type": HOSTILE, "fields": [field, twice]}],
        "stacks": [],
        "widths": [8, 8],
        "blocks": [{"label": "", "ops": [["extract", 0, {"value": 0, "width": 32}]], "end": {"end": "accept"}}],
    }
    made_of = program_dissector(parser, HOSTILE)
    assert "execute(" not in made_of.replace("execute(\\034", "")
    path = tmp_path / "hostile.lua"
    path.write_text(made_of, encoding="utf-8")
    text = shown(capture_of(tmp_path, b"\x01\x02" + bytes(60)), path)
    assert "0x02 (2)" in text
    assert not (tmp_path / "hit").exists()
    assert lua.text(HOSTILE).isprintable()
    many = {**parser, "headers": [{"name": "h", "type": "t", "fields": [field] * 20_001}]}
    with pytest.raises(UserError, match="20001 fields"):
        program_dissector(many, "many")


@pytest.mark.parametrize("program", sorted(path.name for path in PROGRAMS.glob("*.p4")))
def test_every_program_has_a_dissector(tmp_path: Path, program: str) -> None:
    text = shown(capture_of(tmp_path, ipv4(17, bytes(80)), b"\x00" * 14), made(tmp_path, str(PROGRAMS / program)))
    assert f"P4 program {program.removesuffix('.p4')}" in text


def test_what_does_not_compile_or_cannot_be_written_is_said(tmp_path: Path) -> None:
    bad = tmp_path / "bad.p4"
    bad.write_text("header h { bit<8> x }", encoding="utf-8")
    assert CliRunner().invoke(app, ["dissector", str(bad)]).exit_code == 1
    done = CliRunner().invoke(app, ["dissector", "-o", str(tmp_path)])
    assert isinstance(done.exception, UserError)
    assert json.dumps(str(tmp_path))[1:-1] in str(done.exception)
