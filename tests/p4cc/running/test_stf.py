"""`p4cc stf` as a user meets it: verdicts, differences, exit codes, JSON."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import p4cc

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).with_name("stf")
PROGRAM, TEST = HERE / "forward.p4", HERE / "forward.stf"
P4CC = str(Path(sys.executable).with_name("p4cc"))


def stf(*arguments: object) -> subprocess.CompletedProcess[str]:
    return p4cc("stf", *arguments)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_test_that_passes() -> None:
    done = stf(PROGRAM, TEST)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"PASS  {TEST} on forward.p4  2 packets in, 3 expected",
        "  line 5: session 5 = port 6 instance 0",
        "  line 7: last[1] = 0x2a",
        "  line 8: log_msg: kind 1",
        "  line 10: log_msg: kind 2",
        "  line 15: last[1] = 0x02",
        "1 tests: 1 passed",
    ]


def test_a_difference_is_shown_digit_by_digit(tmp_path: Path) -> None:
    wrong = TEST.read_text(encoding="utf-8").replace("expect 2 01 2a beef $", "expect 2 01 2* beff $")
    test = write(tmp_path, "wrong.stf", wrong.replace("expect 3 02 01", "").replace("bytes == 4", "bytes < 4"))
    done = stf(PROGRAM, test)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[6:] == [
        "  line 14: kinds: expected bytes < 4, got 4",
        "  line 9: port 2, packet 0: differs from byte 3",
        "    expected 0000  01 2* be ff $",
        "    got      0000  01 2a be ef",
        "                            ^",
        "1 tests: 0 passed, 1 failed",
    ]


def test_a_packet_on_another_port_is_found(tmp_path: Path) -> None:
    test = write(tmp_path, "port.stf", "add forward tag.kind:1 to(port:2)\npacket 0 0100\nexpect 4 0100$\n")
    done = stf(PROGRAM, test)
    assert done.returncode == 1
    assert "line 3: port 4, packet 0: did not come" in done.stdout
    assert "a packet like this came out of port 2" in done.stdout


@pytest.mark.parametrize(
    ("line", "texts"),
    [
        ("frobnicate 1", ("line 1: `frobnicate` is not a command",)),
        ("packet 0 abc", ("line 1: an odd number of hexadecimal digits",)),
        ("add forward tag.kind:1 to(port:\u00e4)", ("line 1:", "is not a number")),
    ],
)
def test_what_is_no_test_is_bad_input(tmp_path: Path, line: str, texts: tuple[str, ...]) -> None:
    done = stf(PROGRAM, write(tmp_path, "bad.stf", line))
    assert done.returncode == 2
    assert all(text in done.stdout for text in (*texts, "1 not run")), done.stdout


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("add nothing tag.kind:1 to(port:1)", "there is no table `nothing`"),
        ("add forward tag.kind:1 to(port:512)", "does not fit 9 bits"),
        ("add forward tag.kind:1 to()", "the argument `port` is missing"),
        ("add forward tag.other:1 to(port:1)", "no key `tag.other`"),
        ("register_write last 4 1", "4"),
        ("remove nothing", "there is no entry `nothing`"),
        ("mc_node_associate 1 0", "there is no node 0"),
    ],
)
def test_a_command_that_the_program_has_no_place_for(tmp_path: Path, line: str, text: str) -> None:
    done = stf(PROGRAM, write(tmp_path, "command.stf", f"wait\n{line}"))
    assert done.returncode == 1
    assert "line 2: " in done.stdout
    assert text in done.stdout, done.stdout


def test_bad_paths_are_one_message(tmp_path: Path) -> None:
    for arguments, text in (
        ((TEST,), "no program precedes it"),
        ((tmp_path,), "no program with a test of its name"),
        ((HERE / "absent.p4",), "no such program"),
    ):
        done = stf(*arguments)
        assert done.returncode == 2
        assert text in done.stderr
        assert "Traceback" not in done.stderr
    done = stf(PROGRAM, HERE / "absent.stf")
    assert done.returncode == 2
    assert "No such file" in done.stdout


@pytest.mark.parametrize(
    ("part", "instead", "said"),
    [("packet.emit", "packet.emits", "broken.p4:"), ("V1Switch(", "// ", "broken.p4: the program has no `main`")],
)
def test_a_program_that_cannot_run_is_bad_input(tmp_path: Path, part: str, instead: str, said: str) -> None:
    program = write(tmp_path, "broken.p4", PROGRAM.read_text(encoding="utf-8").replace(part, instead))
    done = stf(program, TEST)
    assert done.returncode == 2
    assert said in done.stdout
    assert "Traceback" not in done.stderr


def test_folders_several_tests_and_json(tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path / "a.p4")
    shutil.copy(TEST, tmp_path / "a.stf")
    shutil.copy(ROOT / "engine/filetests/cases/bmv2_own/older.json", tmp_path / "b.json")
    shutil.copy(ROOT / "engine/filetests/cases/bmv2_own/older.stf", tmp_path / "b.stf")
    write(tmp_path, "alone.stf", "wait")
    failing = write(tmp_path, "failing.stf", "packet 0 0100\nexpect 0 00\n")
    done = stf(tmp_path, PROGRAM, TEST, failing, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    records = json.loads(done.stdout)
    assert [(Path(one["test"]).name, one["outcome"]) for one in records] == [
        ("a.stf", "pass"), ("b.stf", "pass"), ("forward.stf", "pass"), ("failing.stf", "fail"),
    ]  # fmt: skip
    problem = records[3]["problems"][0]
    assert {key: problem[key] for key in ("line", "kind", "port", "packet", "expected", "got")} == {
        "line": 2, "kind": "packet", "port": 0, "packet": 0, "expected": "00", "got": None,
    }  # fmt: skip
    only = stf(tmp_path, "--failed")
    assert only.stdout == "2 tests: 2 passed\n"


def test_help_lists_commands_and_examples() -> None:
    text = stf("--help").stdout
    assert "mirroring_add_mc" in text
    assert "p4cc stf forward.p4 forward.stf" in text


def test_interrupting_says_how_far_it_came(tmp_path: Path) -> None:
    test = write(tmp_path, "long.stf", "add forward tag.kind:1 to(port:2)\n" + "packet 1 0100\nexpect 2 01\n" * 500)
    running = subprocess.Popen(
        [P4CC, "stf", str(PROGRAM), *[str(test)] * 2_000], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdout.readline().startswith("PASS")
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130, stderr
    assert "interrupted: " in stderr
    assert "of 2000 tests ran" in stderr
    assert "Traceback" not in stderr


ENDS = """
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> kind; }
struct headers_t { h_t h; }
struct meta_t {}
parser p(packet_in b, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start { b.extract(hdr.h); transition accept; } }
control n(inout headers_t hdr, inout meta_t m) { apply {} }
control i(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action drop() { mark_to_drop(s); }
    table acl { key = { hdr.h.kind: exact; } actions = { drop; NoAction; } }
    apply { s.egress_spec = 1; acl.apply(); assert(hdr.h.kind != 5); } }
control e(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply {} }
control d(packet_out b, in headers_t hdr) { apply { b.emit(hdr.h); } }
V1Switch(p(), n(), i(), e(), n(), d()) main;
"""


@pytest.mark.parametrize("back_end", ["interp", "native"])
def test_missing_packets_say_where_they_ended_and_assertions_fail(tmp_path: Path, back_end: str) -> None:
    program = write(tmp_path, "ends.p4", ENDS)
    test = write(tmp_path, "ends.stf", "add acl kind:7 drop()\npacket 0 07\nexpect 1 07\npacket 0 05\nexpect 1 05\n")
    done = stf("--exec", back_end, program, test)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[1:] == [
        f"  line 4: assert at {program}:13 did not hold",
        "  line 3: port 1, packet 0: differs from byte 0",
        "    expected 0000  07",
        "    got      0000  05",
        "                    ^",
        "  line 5: port 1, packet 1: did not come",
        "    expected 0000  05",
        "    the packet of line 2, into port 0: dropped by mark_to_drop in action i.drop of table i.acl",
        "1 tests: 0 passed, 1 failed",
    ]
    (record,) = json.loads(stf("--json", "--exec", back_end, program, test).stdout)
    assert [problem["kind"] for problem in record["problems"]] == ["assertion", "packet", "packet"]
