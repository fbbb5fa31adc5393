"""`p4cc grade`: points, results in files, limits, and mistakes in a course."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from p4cc.errors import UserError
from p4cc.grading.course import read_course
from p4cc.grading.grade import Grade, GradedTest, submissions
from p4cc.grading.results import csv_text, junit_text
from tests.command_line import p4cc
from tests.p4cc.commands.test_guides import files

PROGRAM = files("how-to/trace-a-packet.md")["routes.p4"]
COURSE = """
title: Routing
program: routes.p4
tests:
  - {stf: forward.stf, points: 3, hint: "Look at the longest prefix."}
  - {stf: ttl.stf, points: 1.5, name: TTL, hint: "Each hop takes one off <ttl>."}
"""
ROUTES = "add routes hdr.ip.dst:0x0a000000/8 forward(port:1)\nadd routes hdr.ip.dst:0x0a000100/24 forward(port:2)\n"
TESTS = {
    "forward.stf": f"{ROUTES}packet 0 40 0a000103\nexpect 2 ** 0a000103\n",
    "ttl.stf": f"{ROUTES}packet 0 40 0a000203\nexpect 1 3f 0a000203\n",
}
SUBMISSIONS = {
    "alice": PROGRAM,
    "bob": PROGRAM.replace("        hdr.ip.ttl = hdr.ip.ttl - 1;\n", ""),
    "=carol": PROGRAM.replace("egress_spec", "egres_spec"),
    "dave": None,
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "course.yaml").write_text(COURSE, encoding="utf-8")
    for name, text in TESTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    for student, text in SUBMISSIONS.items():
        (tmp_path / "submissions" / student).mkdir(parents=True)
        if text is not None:
            (tmp_path / "submissions" / student / "routes.p4").write_text(text, encoding="utf-8")
    return folder


def test_each_submission_has_its_points_and_its_page(course: Path, tmp_path: Path) -> None:
    done = p4cc("grade", tmp_path / "submissions", "--tests", course, "--out", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    grades = {grade["student"]: grade for grade in json.loads(done.stdout)}
    assert {student: grade["points"] for student, grade in grades.items()} == {
        "=carol": 0,
        "alice": 4.5,
        "bob": 3,
        "dave": 0,
    }
    assert grades["dave"]["error"] == "routes.p4 is missing"
    assert "egres_spec" in grades["=carol"]["error"]
    rows = (tmp_path / "out" / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "student,forward,TTL,points,of,error"
    assert rows[1].startswith("'=carol,0,0,0,4.5,error: ")
    assert rows[2:] == ["alice,3,1.5,4.5,4.5,", "bob,3,0,3,4.5,", "dave,0,0,0,4.5,routes.p4 is missing"]
    suites = ET.parse(tmp_path / "out" / "junit.xml").getroot()  # noqa: S314 - written by p4cc
    assert [suite.get("failures") for suite in suites] == ["2", "0", "1", "2"]
    page = (tmp_path / "out" / "students" / "bob.html").read_text(encoding="utf-8")
    assert "3 of 4.5 points" in page
    assert "Each hop takes one off &lt;ttl&gt;." in page
    assert "parser state start" in page, "the way of the packet of the failed test"


@pytest.mark.parametrize("where", ["course", "option"])
def test_warnings_cost_the_points_where_the_course_is_strict(course: Path, tmp_path: Path, where: str) -> None:
    unused = PROGRAM.replace("    apply { routes", "    apply { bit<8> ttl; hdr.ip.ttl = ttl; routes")
    (tmp_path / "submissions" / "bob" / "routes.p4").write_text(unused, encoding="utf-8")
    words = ["--strict", "course"] if where == "option" else []
    if where == "course":
        (course / "course.yaml").write_text(f"{COURSE}strict: course\n", encoding="utf-8")

    def graded(*more: str) -> dict[str, Any]:
        done = p4cc("grade", tmp_path / "submissions", "--tests", course, "--out", tmp_path / "out", "--json", *more)
        assert done.returncode == 0, done.stderr
        return {grade["student"]: grade for grade in json.loads(done.stdout)}

    strict = graded(*words)
    assert strict["alice"]["points"] == 4.5, "no warning"
    assert "ttl" in strict["bob"]["error"]
    assert "error" in strict["bob"]["error"].splitlines()[0]
    if where == "option":
        assert graded()["bob"]["error"] == "", "a warning by default"


CAN_RESTRICT = """
from pathlib import Path
from p4cc.grading.sandbox import read_only
raise SystemExit(not read_only(Path()))
"""


@pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", CAN_RESTRICT], capture_output=True, check=False).returncode != 0,
    reason="the kernel has no Landlock",
)
def test_another_students_program_cannot_be_read(course: Path, tmp_path: Path) -> None:
    bob = tmp_path / "submissions" / "bob"
    (bob / "routes.p4").write_text('#include "../alice/routes.p4"\n', encoding="utf-8")
    (tmp_path / "submissions" / "dave" / "routes.p4").symlink_to(tmp_path / "submissions" / "alice" / "routes.p4")
    (tmp_path / "submissions" / ".git").mkdir()
    words = ("--tests", course, "--out", tmp_path / "out", "--json")
    grades = json.loads(p4cc("grade", tmp_path / "submissions", *words).stdout)
    assert {grade["student"]: grade["points"] for grade in grades} == {"=carol": 0, "alice": 4.5, "bob": 0, "dave": 0}


@pytest.mark.usefixtures("course")
def test_what_grading_cannot_name_is_refused_before(tmp_path: Path) -> None:
    (tmp_path / "submissions" / "routes.p4").write_text(PROGRAM, encoding="utf-8")
    with pytest.raises(UserError, match="is in this folder and in "):
        submissions(tmp_path / "submissions", "routes.p4")
    (tmp_path / "submissions" / "routes.p4").unlink()
    os.mkdir(os.fsencode(tmp_path / "submissions") + b"/M\xfcller")  # noqa: PTH102 - pathlib has no bytes
    with pytest.raises(UserError, match="is not UTF-8"):
        submissions(tmp_path / "submissions", "routes.p4")


def test_texts_are_whole_xml_and_no_formulas(course: Path) -> None:
    read, _ = read_course(course)
    failed = [GradedTest(test, passed=False) for test in read.tests]
    grades = [Grade("-dave", failed, "=1+1\uffff\x00")]
    assert "\n'-dave,0,0,0,4.5,'=1+1" in csv_text(read, grades)
    ET.fromstring(junit_text(read, grades).partition("\n")[2])  # noqa: S314 - written by p4cc


def test_one_submission_is_graded_by_its_folder(course: Path, tmp_path: Path) -> None:
    done = p4cc("grade", tmp_path / "submissions" / "bob", "--tests", course / "course.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "bob" in done.stdout
    assert done.stdout.endswith(f"wrote {tmp_path / 'out'}\n")


def test_a_loop_without_end_fails_within_its_time(course: Path, tmp_path: Path) -> None:
    endless = "for (bit<32> at = 0; at <= 0xffffffff; at = at + 1) { hdr.ip.ttl = hdr.ip.ttl + 1; }"
    program = PROGRAM.replace("routes.apply();", f"routes.apply(); {endless}")
    (tmp_path / "submissions" / "bob" / "routes.p4").write_text(program, encoding="utf-8")
    words = ("--tests", course, "--out", tmp_path / "out", "--json")
    (grade,) = json.loads(p4cc("grade", tmp_path / "submissions" / "bob", *words).stdout)
    assert grade["points"] == 0
    assert "a control's bound of 1048576 steps" in str(grade["tests"][0]["problems"])


LIMITED = "from p4cc.grading.sandbox import limit; limit({memory}, {seconds}); {code}"


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        ("bytearray(900_000_000)", "MemoryError"),
        ("while True: pass", ""),
        ("open('made', 'wb', 0).write(b'x')", "OSError"),
    ],
)
def test_a_worker_ends_at_its_limits(tmp_path: Path, code: str, ends: str) -> None:
    text = LIMITED.format(memory=800_000_000, seconds=1, code=code)
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert ends in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("program: ../routes.p4\ntests: [{stf: forward.stf}]", "program: must be the name of a file"),
        ("program: routes.p4\ntests: []", "tests: "),
        ("program: routes.p4\ntests: [{stf: forward.stf, points: 0}]", "tests.0.points: "),
        ("program: routes.p4\ntests: [{stf: forward.stf, hints: x}]", "tests.0.hints: "),
        ("program: routes.p4\ntests: [{stf: nowhere.stf}]", "cannot read the test"),
        ("program: routes.p4\ntests: [{stf: ttl.stf}, {stf: ttl.stf}]", "two tests are named 'ttl'"),
        ("tests: [{stf: ttl.stf}]", "program: "),
    ],
)
def test_a_mistake_in_a_course_names_its_place(course: Path, text: str, said: str) -> None:
    (course / "course.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as refused:
        read_course(course)
    assert str(course) in refused.value.place
    assert said in refused.value.cause


def test_a_folder_without_submissions_is_refused(course: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = p4cc("grade", tmp_path / "empty", "--tests", course)
    assert done.returncode == 2
    assert "no submission is there" in done.stderr
