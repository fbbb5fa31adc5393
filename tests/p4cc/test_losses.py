"""What a run says of packets that its programs dropped, and of those that reached the wrong host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.p4cc.scenarios import run, scenario
from tests.p4cc.test_program_state import NOTHING, PROGRAM

if TYPE_CHECKING:
    from pathlib import Path


def told(folder: Path, rule: str, **record: Any) -> tuple[list[str], list[str]]:
    """Warnings and notes of a run whose program ends with a rule of its own."""
    (folder / "odd.p4").write_text(PROGRAM.replace("dmac.apply();", f"dmac.apply();\n        {rule}"))
    data = scenario(switch={"program": "odd.p4"}, record={**NOTHING, **record}, stop_ns=5_000_000)
    outcome = run(folder, data).outcome
    return outcome.warnings, outcome.notes


def test_drops_of_the_program_are_said(tmp_path: Path) -> None:
    warnings, notes = told(tmp_path, "if (standard.ingress_port == 1) { mark_to_drop(standard); }")
    assert any("s1: " in note and "packets dropped by its program in ingress" in note for note in notes)
    assert not any("refused" in warning for warning in warnings)


@pytest.mark.parametrize(("record", "who"), [({}, "hosts refused"), ({"packets_received": {}}, "h2 refused")])
def test_packets_at_the_wrong_host_are_warned_of(tmp_path: Path, record: dict[str, Any], who: str) -> None:
    rule = "if (standard.ingress_port == 1) { standard.egress_spec = 2; }"
    warnings, notes = told(tmp_path, rule, **record)
    (said,) = [warning for warning in warnings if "refused" in warning]
    assert who in said
    assert "record.packets_received" in said
    assert not any("dropped" in note for note in notes)


def test_a_run_that_loses_nothing_says_nothing(tmp_path: Path) -> None:
    warnings, notes = told(tmp_path, "")
    assert not any("dropped" in one or "refused" in one for one in (*warnings, *notes))
