"""Results of a course: a table, CSV, JUnit, and a page for each student."""

from __future__ import annotations

import csv
import io
from html import escape
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from p4cc.packet_way.page import document, ways

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from p4cc.grading.course import Course
    from p4cc.grading.grade import Grade, GradedTest

_NO_XML = (*(code for code in range(32) if code not in (9, 10, 13)), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
XML_TEXT = str.maketrans(dict.fromkeys(_NO_XML, "\N{REPLACEMENT CHARACTER}"))
"""Characters that XML cannot hold."""


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet computes begins so."""


def points_text(points: float) -> str:
    """Points without a needless fraction."""
    return f"{points:.10g}"


def csv_text(course: Course, grades: Sequence[Grade]) -> str:
    """A row per student: points of each test, the sum, what the sum could be."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", *(test.label for test in course.tests), "points", "of", "error"])
    for grade in grades:
        earned = [points_text(test.points) for test in grade.tests]
        error = grade.error.strip().splitlines()[:1]
        # A name that a spreadsheet would compute is text.
        texts = [f"'{text}" if text.startswith(FORMULA) else text for text in (grade.student, *(error or [""]))]
        writer.writerow([texts[0], *earned, points_text(grade.points), points_text(course.points), texts[1]])
    return text.getvalue()


def junit_text(course: Course, grades: Sequence[Grade]) -> str:
    """A test suite per student, as continuous integration reads it."""
    suites = ET.Element("testsuites", name=_xml(course.title or course.program))
    for grade in grades:
        failures = sum(not test.passed for test in grade.tests)
        about = {"name": _xml(grade.student), "tests": str(len(grade.tests)), "failures": str(failures)}
        suite = ET.SubElement(suites, "testsuite", about)
        for test in grade.tests:
            case = ET.SubElement(suite, "testcase", classname=_xml(grade.student), name=_xml(test.test.label))
            if not test.passed:
                why = grade.error or "\n".join(test.problems)
                failure = ET.SubElement(case, "failure", message=_xml(test.test.hint or why.partition("\n")[0]))
                failure.text = _xml(why)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    return text.translate(XML_TEXT)


def page_text(course: Course, grade: Grade) -> str:
    """The page of a student."""
    return document(f"{course.title or course.program}: {grade.student}", _body(course, grade))


def _body(course: Course, grade: Grade) -> Iterator[str]:
    yield f"<p>{points_text(grade.points)} of {points_text(course.points)} points</p>"
    if grade.error:
        yield f'<pre class="problem">{escape(grade.error)}</pre>'
    for test in grade.tests:
        yield from _test(test)


def _test(test: GradedTest) -> Iterator[str]:
    kind, outcome = ("hit", "passed") if test.passed else ("lost", "failed")
    points = f"{points_text(test.points)} of {points_text(test.test.points)}"
    yield f'<h2>{escape(test.test.label)}: <span class="{kind}">{outcome}</span>, {points}</h2>'
    if test.passed:
        return
    if test.test.hint:
        yield f"<p>{escape(test.test.hint)}</p>"
    yield from (f'<pre class="problem">{escape(problem)}</pre>' for problem in test.problems)
    yield from ways(test.packets, shown=False)
