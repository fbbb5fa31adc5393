"""`p4cc trace-packet`: text, JSON and page of a packet's way, from the command line."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from p4cc.packet_way.concerned import concerned
from p4cc.packet_way.lines import lines, step_lines
from p4cc.packet_way.page import page
from p4cc.planning.places import Places
from tests.command_line import p4cc

HERE = Path(__file__).resolve().parents[1] / "running" / "stf"
PROGRAM, TEST = HERE / "forward.p4", HERE / "forward.stf"


def test_each_packet_is_shown_with_its_bytes_in_and_out() -> None:
    done = p4cc("trace-packet", PROGRAM, TEST)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" bytes into port ") == TEST.read_text(encoding="utf-8").count("packet ")
    assert "parser state start" in done.stdout
    assert "sent out of port " in done.stdout


def test_one_packet_goes_through_the_entries_of_a_test() -> None:
    last = json.loads(p4cc("trace-packet", PROGRAM, TEST, "--json").stdout)["packets"][-1]
    words = ("--packet", last["bytes"], "--port", last["port"], "--json")
    done = p4cc("trace-packet", PROGRAM, TEST, *words)
    assert done.returncode == 0, done.stderr
    (packet,) = json.loads(done.stdout)["packets"]
    assert packet["bytes"] == last["bytes"]
    # The program counts packets in a register.
    assert [sent["port"] for sent in packet["sent"]] == [sent["port"] for sent in last["sent"]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no packet is given"),
        (("--packet", "0a0"), "is not a number of whole bytes"),
        (("--packet", "0x"), "is not a number of whole bytes"),
        (("nowhere.stf",), "cannot read the test"),
    ],
)
def test_mistakes_are_one_message(words: tuple[str, ...], said: str) -> None:
    done = p4cc("trace-packet", PROGRAM, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_text_that_is_no_test_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.stf").write_text("packet 0 00\nfrobnicate 1\n", encoding="utf-8")
    done = p4cc("trace-packet", PROGRAM, tmp_path / "bad.stf")
    assert done.returncode == 2
    assert "line 2" in done.stderr


def test_the_page_is_one_file_and_escapes_names(tmp_path: Path) -> None:
    out = tmp_path / "way.html"
    done = p4cc("trace-packet", PROGRAM, TEST, "--html", out)
    assert done.stdout.endswith(f"wrote {out}\n")
    text = out.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "http" not in text.replace("http-equiv", "")
    hostile = {"line": 1, "port": 0, "bytes": "00", "sent": [], "steps": [{"step": "entered", "block": "<img src=x>"}]}
    assert "<img" not in page("<b>", [hostile], [(1, "<i>")])
    HTMLParser().feed(text)


@dataclass(frozen=True)
class Failed:
    line: int
    port: int | None
    packet: int | None


def step(**keys: Any) -> dict[str, Any]:
    return keys


def test_the_parsers_error_comes_where_the_parser_ended() -> None:
    steps = [
        step(step="state", state="start"),
        step(step="entered", block="ingress"),
        step(step="parser_error", error="PacketTooShort"),
    ]
    shown = [line.text for line in lines({"steps": steps, "sent": []})]
    assert shown == ["parser state start", "parser error PacketTooShort", "ingress"]


def test_a_miss_names_the_bits_that_differ() -> None:
    entry = {"keys": ["0x8/4"], "priority": 0, "action": "go()", "differs": [{"key": "k", "bits": [3]}]}
    miss = step(step="table", table="t", key={"k": "0x1"}, hit=False, entry=entry, entries=1)
    shown = [line.text for line in lines({"steps": [miss], "sent": []})]
    assert shown == ["table t (k=0x1): miss", "closest of 1 entry: 0x8/4 -> go()", "  k differs in bit 3"]


def test_a_failure_is_about_the_packet_that_came_out_or_the_last_before() -> None:
    packets: list[dict[str, Any]] = [
        {"line": 1, "sent": [{"port": 2}]},
        {"line": 3, "sent": []},
        {"line": 5, "sent": [{"port": 1}, {"port": 2}]},
    ]
    for failures, wanted in [
        ([Failed(line=6, port=2, packet=1)], [5]),
        ([Failed(line=4, port=3, packet=0)], [3]),
        ([Failed(line=2, port=2, packet=0), Failed(line=4, port=None, packet=None)], [1, 3]),
        ([Failed(line=0, port=None, packet=None)], [1, 3, 5]),
    ]:
        assert [packet["line"] for packet in concerned(packets, failures)] == wanted


def test_a_failed_test_shows_its_packets(tmp_path: Path) -> None:
    wrong = TEST.read_text(encoding="utf-8").replace("expect 2 01 2a beef $", "expect 2 01 2b beef $")
    (tmp_path / "wrong.stf").write_text(wrong, encoding="utf-8")
    done = p4cc("stf", PROGRAM, tmp_path / "wrong.stf", "--trace")
    assert done.returncode == 1, done.stderr
    assert done.stdout.count(" bytes into port ") == 1, "of the two packets that are sent"
    assert "register " in done.stdout
    assert "(forward.p4:" in done.stdout
    (record,) = json.loads(p4cc("stf", PROGRAM, tmp_path / "wrong.stf", "--trace", "--json").stdout)
    assert len(record["packets"]) == 1
    assert "packets" not in json.loads(p4cc("stf", PROGRAM, TEST, "--trace", "--json").stdout)[0]


def test_steps_know_their_places() -> None:
    declared = [("Ingress.t", "/x/a.p4", 4), ("P.start", "a.p4", 1), ("P.next", "a.p4", 2), ("Q.next", "a.p4", 3)]
    places = Places(declared)
    for one, place in [
        (step(step="table", table="pipe.Ingress.t"), "a.p4:4"),
        (step(step="state", state="start"), "a.p4:1"),
        (step(step="state", state="next"), ""),
        (step(step="action", action="NoAction"), ""),
        (step(step="sent", port=1), ""),
    ]:
        assert places.of(one) == place


def test_registers_and_meters_are_told() -> None:
    for one, text in [
        (step(step="register", register="r", index=2, writes=False, value="0x7"), "register r[2] is 0x7"),
        (step(step="register", register="r", index=2, writes=True, value="0x8"), "register r[2] becomes 0x8"),
        (step(step="register", register="r", index=9, writes=True, value=None), "no such cell, nothing is written"),
        (step(step="meter", meter="m", index=1, color="red"), "meter m[1]: red"),
        (step(step="meter", meter="m", color="green"), "meter m: green"),
    ]:
        (line,) = step_lines(one)
        assert text in line.text
