"""Variants that differ in transport: what is said of it, once, and where nothing is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.analysis.comparison import compare
from p4cc.analysis.recorded import read_results
from p4cc.planning.compared import transport_warnings
from p4cc.scenario.expand import Case
from p4cc.scenario.findings import Places
from p4cc.scenario.load import validate
from p4cc.scenario.yaml import read_document
from tests.p4cc.running.test_provenance import cli
from tests.p4cc.scenarios import RENO, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

DCTCP = {"name": "DCTCP", "congestion_avoidance": {"name": "dctcp"}}
PACED = {"name": "DCTCP paced", "rate_control": {"name": "dctcp_rate"}}
FEW = {"kind": "rdma", "mss_bytes": 1_436, "rto_ns": 2_000_000}


def said(folder: Path, **changes: Any) -> list[str]:
    """Warnings about transport of a scenario's variants, at two points of a sweep."""
    document = read_document(write(folder, scenario(**changes)))
    checked = validate(document, document.plain(), {})
    cases = [Case(0, variant, {"topology.senders": at}, checked) for at in (2, 3) for variant in checked.variants]
    return transport_warnings(cases, Places(document, {}))


def test_a_window_beside_a_paced_sender_is_said_once_with_every_setting(tmp_path: Path) -> None:
    (found,) = said(tmp_path, variants=[RENO, DCTCP, PACED], paced=FEW)
    assert found.startswith(f"{tmp_path / 'scenario.yaml'}:")
    assert "pacing: windows, not paced (Reno, DCTCP), paced packets (DCTCP paced)" in found
    assert "recovery: newreno (Reno, DCTCP), go_back_n (DCTCP paced)" in found
    assert "initial window: 2 segments (Reno, DCTCP), the algorithm's, at its first rate (DCTCP paced)" in found
    assert "ACKs: one for each packet, class of the data (Reno, DCTCP), one for each packet, class 7" in found
    assert "receiver window: 64 segments (Reno, DCTCP), none (DCTCP paced)" in found
    assert "over one `transport: {kind: rdma}`" in found
    assert "own_transports: true" in found


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ({"iw": 10}, "initial window: 2 segments (Reno), 10 segments (DCTCP)"),
        ({"recovery": "sack"}, "recovery: newreno (Reno), sack (DCTCP)"),
        ({"ack_every": 2}, "ACKs: one for each packet, class of the data (Reno), one for 2 packets"),
        ({"rwnd": 100}, "receiver window: 64 segments (Reno), 100 segments (DCTCP)"),
    ],
)
def test_one_setting_of_one_variant_is_said_alone(tmp_path: Path, changes: dict[str, Any], setting: str) -> None:
    (found,) = said(tmp_path, variants=[RENO, {**DCTCP, "transport": changes}])
    assert setting in found
    assert "pacing" not in found
    assert "leave them out of the variants" in found


@pytest.mark.parametrize(
    "changes",
    [
        {"variants": [RENO, DCTCP]},
        {"variants": [DCTCP, PACED], "paced": FEW, "own_transports": True},
        # One algorithm: the transport is what is compared.
        {"variants": [DCTCP, {**DCTCP, "name": "IW 10", "transport": {"iw": 10}}]},
        {"variants": [PACED], "paced": FEW},
    ],
)
def test_nothing_is_said_of_one_transport_nor_where_it_is_meant(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert said(tmp_path, **changes) == []


def test_the_terminal_the_summary_and_the_report_say_it(tmp_path: Path) -> None:
    (tmp_path / "mixed.yaml").write_text(json.dumps(scenario(variants=[DCTCP, PACED], paced=FEW)), encoding="utf-8")
    done = cli("run", "mixed.yaml", "--report", "--out", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("differ in transport") == 1
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert sum("differ in transport" in one for one in summary["warnings"]) == 1
    assert "differ in transport" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_compare_says_it_of_two_algorithms_and_not_of_one(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    a = run(tmp_path / "a", scenario(variants=[RENO, DCTCP])).outcome.folder
    b = run(tmp_path / "b", scenario(variants=[RENO, PACED], paced=FEW), "transport.iw=4").outcome.folder
    of_one = compare(read_results(a), read_results(b))
    assert of_one.warnings == []
    of_two = compare(read_results(a), read_results(b), {"DCTCP": "DCTCP paced"})
    (found,) = of_two.warnings
    assert "pacing: windows, not paced (DCTCP of A), paced packets (DCTCP paced of B)" in found


def test_an_initial_window_that_an_old_folder_lacks_is_not_today_s_default(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    a = run(tmp_path / "a", scenario(variants=[RENO])).outcome.folder
    b = run(tmp_path / "b", scenario(variants=[DCTCP]), "transport.iw=10").outcome.folder
    path = a / "run.json"
    made = json.loads(path.read_text(encoding="utf-8"))
    del made["scenario"]["transport"]["iw"]
    path.write_text(json.dumps(made), encoding="utf-8")
    (found,) = compare(read_results(a), read_results(b), {"Reno": "DCTCP"}).warnings
    assert "initial window: not recorded (Reno of A), 10 segments (DCTCP of B)" in found
