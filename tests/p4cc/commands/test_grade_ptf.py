"""`p4cc grade` with PTF tests: points, what a student reads, limits, and what is missing. Needs PTF and namespaces."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from p4cc.errors import UserError
from p4cc.grading.course import read_course
from p4cc.grading.ptf_bench import PtfBench, ptf_bench
from p4cc.grading.ptf_worker import problems_of
from tests.command_line import p4cc
from tests.p4cc.commands.test_guides import DOCS, files

PROGRAM = files("how-to/trace-a-packet.md")["routes.p4"]
PAGE = (DOCS / "how-to" / "run-a-course.md").read_text(encoding="utf-8")
(ROUTING,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COURSE = """
title: Routing
program: routes.p4
tests:
  - {stf: forward.stf, points: 3}
  - {ptf: ptf, class: routing.Longest, points: 2, hint: Two entries match}
  - {ptf: ptf, class: sandbox, name: inside}
"""
STF = """add routes hdr.ip.dst:0x0a000000/8 forward(port:1)
packet 0 40 0a000203
expect 1 ** 0a000203
"""
SANDBOX = """
import socket
from pathlib import Path

from finsy import P4Schema
from ptf.base_tests import BaseTest
from ptf.testutils import test_params_get


class Inside(BaseTest):
    def runTest(self):
        parameters = test_params_get()
        assert P4Schema(Path(parameters["p4info"]), Path(parameters["config"])).tables["routes"]
        host, port = parameters["grpcaddr"].split(":")
        socket.create_connection((host, int(port)), 5).close()
        Path("note").write_text("kept until the end")
        assert [name for _, name in socket.if_nameindex() if not name.startswith(("sw", "host"))] == ["lo"]
        for refused in (lambda: list(Path("SUBMISSIONS").iterdir()), lambda: Path("SUBMISSIONS/made").touch()):
            try:
                refused()
            except PermissionError:
                continue
            raise AssertionError("the sandbox has a hole")
"""
LATE = """
import time
import unittest


class Waits(unittest.TestCase):
    def runTest(self):
        time.sleep(1000)
"""


def _bench() -> tuple[PtfBench | None, str]:
    try:
        return ptf_bench("p4cc"), ""
    except UserError as missing:
        return None, missing.cause


BENCH, MISSING = _bench()
runs_ptf = pytest.mark.skipif(BENCH is None, reason=f"PTF tests: {MISSING}")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    folder = tmp_path / "course"
    (folder / "ptf").mkdir(parents=True)
    (folder / "course.yaml").write_text(COURSE, encoding="utf-8")
    (folder / "forward.stf").write_text(STF, encoding="utf-8")
    (folder / "ptf" / "routing.py").write_text(ROUTING, encoding="utf-8")
    sandbox = SANDBOX.replace("SUBMISSIONS", str(tmp_path / "submissions"))
    (folder / "ptf" / "sandbox.py").write_text(sandbox, encoding="utf-8")
    for student, text in {"alice": PROGRAM, "bob": PROGRAM.replace("hdr.ip.ttl - 1", "hdr.ip.ttl")}.items():
        (tmp_path / "submissions" / student).mkdir(parents=True)
        (tmp_path / "submissions" / student / "routes.p4").write_text(text, encoding="utf-8")
    return folder


@runs_ptf
def test_ptf_tests_earn_points_within_limits(course: Path, tmp_path: Path) -> None:
    words = ("--tests", course, "--out", tmp_path / "out", "--json")
    done = p4cc("grade", tmp_path / "submissions", *words)
    assert done.returncode == 0, done.stderr
    alice, bob = json.loads(done.stdout)
    assert [test["problems"] for test in alice["tests"]] == [[], [], []]
    assert (alice["points"], bob["points"]) == (6, 4)
    (problem,) = bob["tests"][1]["problems"]
    assert problem.startswith("routing.Longest: AssertionError: Expected packet was not received on device 0, port 2.")
    assert "Traceback" not in problem
    assert "0000  40 0A 00 01 03" in problem, "the packet that came"
    page = (tmp_path / "out" / "students" / "bob.html").read_text(encoding="utf-8")
    assert "Two entries match" in page
    assert "Expected packet was not received" in page
    assert 'message="Two entries match">routing.Longest:' in (tmp_path / "out" / "junit.xml").read_text("utf-8")


@runs_ptf
def test_a_test_without_end_ends_and_costs_no_other_points(course: Path, tmp_path: Path) -> None:
    (course / "ptf" / "late.py").write_text(LATE, encoding="utf-8")
    tests = "[{stf: forward.stf}, {ptf: ptf, class: late.Waits}]"
    (course / "course.yaml").write_text(f"program: routes.p4\ntests: {tests}\n", encoding="utf-8")
    words = ("--tests", course, "--out", tmp_path / "out", "--json", "--seconds", "5")
    (grade,) = json.loads(p4cc("grade", tmp_path / "submissions" / "alice", *words).stdout)
    assert [test["problems"] for test in grade["tests"]] == [[], ["PTF tests took longer than 20 s"]]


@runs_ptf
@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("routing.Shortest", "there is no test 'routing.Shortest'"),
        ("broken", "ModuleNotFoundError: No module named 'nowhere'"),
    ],
)
def test_a_mistake_in_ptf_tests_is_told_before_grading(course: Path, named: str, said: str) -> None:
    if named == "broken":
        (course / "ptf" / "broken.py").write_text("import nowhere\n", encoding="utf-8")
    assert BENCH is not None
    with pytest.raises(UserError, match="test") as refused:
        BENCH.check(course / "ptf", [named])
    assert said in refused.value.cause
    assert refused.value.place == str(course / "ptf")


def test_what_is_missing_is_one_message(course: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": str(tmp_path)}
    words = ("--tests", course, "--out", tmp_path / "out", "--target", "bmv2")
    done = p4cc("grade", tmp_path / "submissions", *words, env=environment)
    assert done.returncode == 2
    assert "left out on BMv2: 1 STF tests" in done.stderr
    assert "the switch of target bmv2, ip, unshare" in done.stderr
    assert "install BMv2 (docs/how-to/bmv2.md)" in done.stderr


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("{ptf: nowhere}", "there is no such folder"),
        ("{ptf: ptf, stf: forward.stf}", "name a file with stf, or a folder with ptf"),
        ("{points: 2}", "name a file with stf, or a folder with ptf"),
        ("{stf: forward.stf, class: routing.Longest}", "class selects among the tests of a folder"),
    ],
)
def test_a_mistake_in_a_course_is_told(course: Path, test: str, said: str) -> None:
    (course / "course.yaml").write_text(f"program: routes.p4\ntests: [{test}]\n", encoding="utf-8")
    with pytest.raises(UserError) as refused:
        read_course(course)
    assert said in refused.value.cause


def test_what_ptf_prints_becomes_a_problem() -> None:
    rule, line = "=" * 70, "-" * 70
    stack = 'Traceback (most recent call last):\n  File "a.py", line 1, in runTest\n    fail()\n'
    text = f"a.A ... ERROR\n\n{rule}\nERROR: a.A\n{line}\n{stack}ValueError: no\n\n"
    text += (
        f"{rule}\nFAIL: runTest (a.B.runTest)\nWhat it tests.\n{line}\n{stack}AssertionError: 1 != 2\n\n{line}\nRan 2\n"
    )
    assert list(problems_of(1, text)) == ["a.A: ValueError: no", "a.B: AssertionError: 1 != 2"]
    assert list(problems_of(0, "OK\n")) == []
    assert list(problems_of(0, "OK (skipped=2)\n")) == ["2 tests were skipped, which earns nothing"]
    assert list(problems_of(-9, "")) == ["PTF ended (SIGKILL): without a word"]
