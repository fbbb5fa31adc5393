"""What differs from BMv2, and what does not: each case on p4cc, and where BMv2 is installed, on BMv2."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from p4cc.planning.programs import compile_program
from tests.bmv2 import cases, reference

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/differences-from-bmv2.md"

needs_bmv2 = pytest.mark.skipif(not reference.is_real(), reason="needs BMv2's simple_switch and simple_switch_CLI")


@pytest.mark.parametrize("name", cases.names())
def test_p4cc_does_what_the_page_says(name: str) -> None:
    case = cases.read(name)
    compiled = compile_program(case.program, (), (), None)
    assert compiled.ok, compiled.rendered
    report = compiled.run_stf(case.test.read_text(encoding="utf-8"), None)
    problems = [problem.message for problem in report.problems]
    assert len(problems) == len(case.p4cc_reports), problems
    assert all(wanted in got for wanted, got in zip(case.p4cc_reports, problems, strict=True)), problems
    printed = [text for _, text in report.printed]
    assert [text for text in case.p4cc_prints if text not in printed] == [], printed


@needs_bmv2
@pytest.mark.parametrize("name", cases.names())
def test_bmv2_does_what_the_page_says(name: str, tmp_path: Path) -> None:
    case = cases.read(name)
    compiled = compile_program(case.program, (), (), None)
    document = tmp_path / "program.json"
    document.write_text(compiled.bmv2_json(), encoding="utf-8")
    ends = case.refuses or case.ends
    outcome = reference.run(document, case.steps, sorted(case.ports), tmp_path, until_end=ends)
    if case.refuses:
        assert outcome.exit_code == 1, outcome.log
        return
    if case.ends:
        assert outcome.exit_code not in (None, 0), outcome.log
        return
    assert outcome.exit_code is None, outcome.log
    missing = [line for line in case.bmv2_prints if not any(line in answer for answer in outcome.answers)]
    assert missing == [], outcome.answers
    for port in case.ports:
        got = [packet.hex() for packet in outcome.packets[port]]
        wanted = case.expected.get(port, [])
        assert len(got) == len(wanted), (port, got)
        for packet, pattern in zip(got, wanted, strict=True):
            assert re.match(pattern.replace("*", "[0-9a-f]"), packet), (port, packet)


def test_the_page_lists_every_case_where_it_belongs() -> None:
    """A difference has a row with its case; what is equal is listed below."""
    text = PAGE.read_text(encoding="utf-8")
    different, equal = text.split("## What is equal")
    for name in cases.names():
        part, other = (different, equal) if cases.read(name).differs else (equal, different)
        assert f"`{name}`" in part, f"{name} is missing from its part of the page"
        assert f"`{name}`" not in other, name
    for path, test in re.findall(r"`((?:tests|engine)/[\w/.]+\.(?:py|rs))::(\w+)`", text):
        assert re.search(rf"(fn|def) {test}\b", (ROOT / path).read_text(encoding="utf-8")), (path, test)
    listed = set(re.findall(r"\(case `(\w+)`\)", text)) | set(re.findall(r"^\| `(\w+)` \|", equal, re.MULTILINE))
    assert listed <= set(cases.names()), listed - set(cases.names())
