"""`p4cc import config.txt`: HPCC's configurations become scenarios, or an error with its line."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.planning.hpcc_config import import_config
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.command_line import BARE, p4cc
from tests.p4cc.scenarios import ROOT

# As its run.py writes for NICs of 100 Gb/s.
HPCC = """ENABLE_QCN 1 {0: disable, 1: enable}
USE_DYNAMIC_PFC_THRESHOLD 1
PACKET_PAYLOAD_SIZE 1000
TOPOLOGY_FILE mix/fat.txt
FLOW_FILE mix/flow.txt
TRACE_FILE mix/trace.txt
SIMULATOR_STOP_TIME 4.00
CC_MODE 3
ALPHA_RESUME_INTERVAL 1
RATE_DECREASE_INTERVAL 4
CLAMP_TARGET_RATE 0
RP_TIMER 300
EWMA_GAIN 0.00390625
FAST_RECOVERY_TIMES 1
RATE_AI 40Mb/s
RATE_HAI 40Mb/s
MIN_RATE 1000Mb/s
DCTCP_RATE_AI 1000Mb/s
ERROR_RATE_PER_LINK 0.0000
L2_CHUNK_SIZE 4000
L2_ACK_INTERVAL 1
L2_BACK_TO_ZERO 0
HAS_WIN 1
GLOBAL_T 1
VAR_WIN 1
FAST_REACT 1
U_TARGET 0.95
MI_THRESH 0
INT_MULTI 4
MULTI_RATE 0
SAMPLE_FEEDBACK 0
RATE_BOUND 1
ACK_HIGH_PRIO 0
LINK_DOWN 0 0 0
KMAX_MAP 2 100000000000 1600 400000000000 6400
KMIN_MAP 2 100000000000 400 400000000000 1600
PMAX_MAP 2 100000000000 0.20 400000000000 0.20
BUFFER_SIZE 32
"""


@pytest.fixture
def simulator(tmp_path: Path) -> Path:
    """The simulator's folder, with a topology and flows."""
    (tmp_path / "mix").mkdir()
    shutil.copy(ROOT / "experiments/hpcc/ns3_topology.txt", tmp_path / "mix" / "fat.txt")
    shutil.copy(ROOT / "experiments/hpcc/ns3_flows.txt", tmp_path / "mix" / "flow.txt")
    return tmp_path


def written(simulator: Path, *changes: tuple[str, str]) -> Path:
    text = HPCC
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = simulator / "mix" / "config.txt"
    path.write_text(text, encoding="utf-8")
    return path


def imported(path: Path) -> Any:
    return import_config(path, str).document


def test_its_configuration_gives_the_flows_of_the_comparison_with_it(simulator: Path) -> None:
    made = p4cc("import", str(written(simulator)), "mine.yaml", folder=simulator, env=BARE)
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith("11 keys have no field; mine.yaml lists them")
    said = (simulator / "mine.yaml").read_text(encoding="utf-8")
    assert "#   INT_MULTI 4: p4cc derives it from each port's rate" in said
    assert "file: mix/fat.txt" in said
    ours = RunRequest(simulator / "mine.yaml", out=simulator / "ours", figures=False)
    theirs = RunRequest(
        ROOT / "experiments/hpcc/ns3_compare.yaml", out=simulator / "theirs", figures=False, variants=("hpcc",)
    )
    for request in (ours, theirs):
        run_scenario(request)
    flows = [pl.read_parquet(simulator / name / "flows.parquet") for name in ("ours", "theirs")]
    assert flows[0].height > 100
    assert flows[0].equals(flows[1])


def test_each_mode_is_the_sender_that_run_py_configures(simulator: Path) -> None:
    dcqcn = (
        ("CC_MODE 3", "CC_MODE 1"),
        ("HAS_WIN 1", "HAS_WIN 0"),
        ("VAR_WIN 1", "VAR_WIN 0"),
        ("RATE_AI 40Mb/s", "RATE_AI 20Mb/s"),
        ("RATE_HAI 40Mb/s", "RATE_HAI 200Mb/s"),
    )
    assert imported(written(simulator, *dcqcn))["variants"][0]["rate_control"] == {
        "name": "dcqcn",
        "alpha_timer_ns": 1_000,
        "decrease_timer_ns": 4_000,
        "increase_timer_ns": 300_000,
        "g": 0.00390625,
        "f": 1,
        "ai_mbps": 5.0,
        "hai_mbps": 50.0,
        "clamp_target": "off",
        "r_min_mbps": 1_000.0,
        "window": "none",
    }
    timely = (
        ("CC_MODE 3", "CC_MODE 7"),
        ("RATE_AI 40Mb/s", "RATE_AI 100Mb/s"),
        ("RATE_HAI 40Mb/s", "RATE_HAI 500Mb/s"),
    )
    document = imported(written(simulator, *timely))
    assert document["variants"][0]["rate_control"]["delta_mbps"] == 10.0
    assert document["variants"][0]["rate_control"]["hai_factor"] == 5.0
    assert document["variants"][0]["rate_control"]["window"] == "vwin"
    assert document["switch"]["program"].endswith("ecn_red.p4")
    dctcp = (("CC_MODE 3", "CC_MODE 8"), ("EWMA_GAIN 0.00390625", "EWMA_GAIN 0.0625"), ("_AI 1000Mb/s", "_AI 615Mb/s"))
    sender = imported(written(simulator, *dctcp))["variants"][0]["rate_control"]
    assert (sender["name"], sender["g"], sender["ai_mbps"]) == ("dctcp_rate", 0.0625, 615.0)


def test_mode_10_is_hpcc_by_pint(simulator: Path) -> None:
    """As its run.py writes for `--cc hpccPint --pint_log_base 1.05 --pint_prob 0.0625`."""
    keys = ("CC_MODE 3", "CC_MODE 10\nPINT_LOG_BASE 1.05\nPINT_PROB 0.0625")
    said = import_config(written(simulator, keys), str)
    document: Any = said.document
    assert document["variants"][0]["rate_control"] == {
        "name": "hpcc_pint",
        "eta": 0.95,
        "max_stage": 0,
        "ai_mbps": 10.0,
        "r_min_mbps": 1_000.0,
    }
    assert document["switch"]["program"] == "p4src/v1model/pint.p4"
    assert document["switch"]["pint"] == {"log_base": 1.05}
    assert document["transport"]["pint_share"] == 0.0625
    assert {"FAST_REACT 1: not read by this CC_MODE", "MULTI_RATE 0: not read by this CC_MODE"} <= set(said.remarks)
    left_out = imported(written(simulator, ("CC_MODE 3", "CC_MODE 10")))
    assert (left_out["switch"]["pint"]["log_base"], left_out["transport"]["pint_share"]) == (1.05, 1.0)
    of_others = import_config(written(simulator, ("CC_MODE 3", "CC_MODE 3\nPINT_PROB 1.0")), str)
    assert "PINT_PROB 1.0: not read by this CC_MODE" in of_others.remarks


def test_a_key_that_is_left_out_has_the_simulators_default(simulator: Path) -> None:
    """Of `scratch/third.cc`: has_win 1, var_win 0, mi_thresh 5, multi_rate, fast_react, u_target 0.95."""
    sender = imported(written(simulator, ("MI_THRESH 0\n", ""), ("MULTI_RATE 0\n", "")))["variants"][0]["rate_control"]
    assert (sender["max_stage"], sender["multi_rate"]) == (5, "on")
    left_out = (("FAST_REACT 1\n", ""), ("U_TARGET 0.95\n", ""), ("HAS_WIN 1\n", ""), ("BUFFER_SIZE 32\n", ""))
    document = imported(written(simulator, *left_out))
    sender = document["variants"][0]["rate_control"]
    assert (sender["reaction"], sender["eta"]) == ("ack", 0.95)
    assert document["switch"]["buffer"]["bytes"] == 16 << 20
    with pytest.raises(UserError, match="HAS_WIN 1 and VAR_WIN 0"):
        imported(written(simulator, ("CC_MODE 3", "CC_MODE 1"), ("HAS_WIN 1\n", ""), ("VAR_WIN 1\n", "")))


def test_what_hosts_do_with_acks_is_said(simulator: Path) -> None:
    remarks = import_config(written(simulator, ("ACK_HIGH_PRIO 0", "ACK_HIGH_PRIO 1")), str).remarks
    assert any(remark.startswith("ACK_HIGH_PRIO 1: hosts there") for remark in remarks)


def test_going_back_to_zero_goes_back_to_a_chunk(simulator: Path) -> None:
    assert "recovery" not in imported(written(simulator))["transport"]
    back = ("L2_BACK_TO_ZERO 0", "L2_BACK_TO_ZERO 1")
    transport = imported(written(simulator, back))["transport"]
    assert (transport["recovery"], transport["message_bytes"]) == ("go_back_0", 4_000)
    assert not any("L2_CHUNK_SIZE" in remark for remark in import_config(written(simulator, back), str).remarks)
    with pytest.raises(UserError, match="chunks of 0 bytes"):
        imported(written(simulator, back, ("L2_CHUNK_SIZE 4000", "L2_CHUNK_SIZE 0")))


def test_each_pair_has_its_base_round_trip_with_global_t_0(simulator: Path) -> None:
    assert "base_rtt" not in imported(written(simulator))["transport"]
    assert imported(written(simulator, ("GLOBAL_T 1", "GLOBAL_T 0")))["transport"]["base_rtt"] == "pair"


def test_links_that_go_down_count_from_the_first_flows(simulator: Path) -> None:
    document = imported(written(simulator, ("LINK_DOWN 0 0 0", "LINK_DOWN 100 0 16")))
    assert document["faults"] == [{"between": ["h0", "s16"], "down_ns": 2_000_100_000}]


@pytest.mark.parametrize(
    ("old", "new", "line", "cause"),
    [
        ("CC_MODE 3", "CC_MODE 9", 8, "CC_MODE 9 is not modelled"),
        ("CC_MODE 3", "CC_MODE 10\nPINT_LOG_BASE 1.01", 9, "PINT_LOG_BASE 1.01 is not between 1.05 and 2"),
        ("CC_MODE 3", "CC_MODE 10\nPINT_PROB 0", 9, "PINT_PROB 0 is not a share of packets"),
        ("CC_MODE 3", "PINT_PROB 1.5\nCC_MODE 10", 8, "PINT_PROB 1.5 is not a share of packets"),
        ("VAR_WIN 1", "VAR_WIN 0", 25, "HAS_WIN 1 and VAR_WIN 0"),
        ("RATE_AI 40Mb/s", "RATE_AI 40", 15, "RATE_AI is '40'"),
        ("mix/flow.txt", "mix/none.txt", 5, "no file 'mix/none.txt'"),
        ("KMIN_MAP 2", "KMIN_MAP 3", 36, "KMIN_MAP is not a map by rate"),
        ("400 400000000000 1600", "400 400000000000 1500", 36, "neither equal nor proportional"),
        ("100000000000 400 4", "10000000000 400 4", 36, "the maps have no links of 100000000000 bit/s"),
        ("LINK_DOWN 0 0 0", "LINK_DOWN 5 0 17", 34, "no link joins nodes 0 and 17"),
        ("LINK_DOWN 0 0 0", "LINK_DOWN 5 0.5 16", 34, "a fraction of a node"),
        ("BUFFER_SIZE 32", "BUFFER_SIZE x", 38, "BUFFER_SIZE is 'x'"),
        ("RATE_BOUND 1", "RATE_BOUND 1\nUSE_FLOODGATE 1\nX 2", 33, "USE_FLOODGATE and 1 more keys"),
        ("RATE_BOUND 1", "CC_MODE 3", 32, "CC_MODE is given twice"),
        ("TOPOLOGY_FILE", "TOPOLOGIE", None, "is not a configuration of HPCC's ns-3 simulator"),
    ],
)
def test_what_is_not_modelled_or_wrong_is_named_by_line(
    simulator: Path, old: str, new: str, line: int | None, cause: str
) -> None:
    path = written(simulator, (old, new))
    with pytest.raises(UserError) as caught:
        imported(path)
    assert cause in caught.value.cause
    assert caught.value.place == (f"{path}:{line}" if line else str(path))
    assert caught.value.remedy


def test_any_cut_of_it_is_a_scenario_or_a_message(simulator: Path) -> None:
    words = HPCC.split(" ")
    for at in range(0, len(words), 3):
        path = simulator / "mix" / "config.txt"
        path.write_text(" ".join(words[:at] + words[at + 1 :]), encoding="utf-8")
        # Anything but a message would fail.
        with suppress(UserError):
            imported(path)
