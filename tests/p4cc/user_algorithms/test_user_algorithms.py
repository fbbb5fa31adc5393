"""Algorithms in Python: equal to the engine's own, recorded, kept in the cache by their files, offered by packages.

What people get wrong with them is in test_mistakes_algorithms.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from p4cc import WindowAlgorithm, maths, number
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from p4cc.user_algorithms.load import load_own, offered
from tests.p4cc.scenarios import RENO, ROOT, Ran, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / "experiments/own_algorithms"
TABLES = ("flows", "windows", "queues", "events", "counters", "traffic")

RENO_IN_PYTHON = """
from p4cc import WindowAlgorithm, number

class Mine(WindowAlgorithm):
    step = number(1, min=0.5, max=2, unit="segments")
    def start(self):
        self.acks = 0
    def on_ack(self, ack):
        self.acks += 1
        self.cwnd += self.step / self.cwnd
"""
MINE = {"name": "Mine", "congestion_avoidance": {"python": "mine.py:Mine"}}


def own(folder: Path, code: str = RENO_IN_PYTHON, **changes: Any) -> dict[str, Any]:
    """Changes of a scenario whose sender is the class `Mine` of a file beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "mine.py").write_text(code)
    return {"variants": [MINE], **changes}


def pairs(folder: Path, table: str) -> list[tuple[pl.DataFrame, pl.DataFrame]]:
    """The rows of each two variants that follow each other, without their names."""
    path = folder / f"{table}.parquet"
    if not path.is_file():
        return []
    rows = pl.read_parquet(path).partition_by("variant", maintain_order=True)
    plain = [part.drop("variant", "algorithm", strict=False) for part in rows]
    return list(zip(plain[::2], plain[1::2], strict=True))


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("windows.yaml", ["traffic.sru_bytes=200_000"]),
        *(
            (
                "windows.yaml",
                [
                    "traffic.sru_bytes=100_000",
                    f"variants.0.slow_start.entry={entry}",
                    f"variants.1.slow_start.entry={entry}",
                    f"variants.0.slow_start.delta={form}",
                    f"variants.1.slow_start.form={form}",
                ],
            )
            for entry, form in (("stop", "text"), ("per_ack", "literal"), ("window_close", "text"))
        ),
        ("rates.yaml", ["traffic.sru_bytes=400_000"]),
        ("receivers.yaml", []),
    ],
)
def test_examples_give_the_tables_of_the_built_in_ones(tmp_path: Path, file: str, changes: list[str]) -> None:
    request = RunRequest(
        EXAMPLES / file, tmp_path / "out", overrides=tuple(changes), figures=False, quiet=True, use_cache=False
    )
    run_scenario(request)
    compared = {table: pairs(tmp_path / "out", table) for table in TABLES}
    assert sum(first.height for first, _ in compared["windows"]) > 100
    for table, found in compared.items():
        for first, second in found:
            assert first.equals(second, null_equal=True), table


def test_a_class_that_does_what_reno_does_is_reno(tmp_path: Path) -> None:
    ran = run(tmp_path, scenario(**own(tmp_path, variants=[RENO, MINE], record={"windows_interval_ns": 100_000})))
    ((first, second),) = pairs(ran.outcome.folder, "windows")
    assert first.equals(second, null_equal=True)


def test_parameters_reach_the_class_and_attributes_the_table(tmp_path: Path) -> None:
    chosen = {"python": "mine.py:Mine", "step": 2}
    variants = [{**MINE, "congestion_avoidance": chosen, "transport": {"ssthresh0": 4}}]
    record = {"windows_interval_ns": 100_000, "state": ["acks", "step", "no"]}
    ran = run(tmp_path, scenario(**own(tmp_path, variants=variants, record=record)))
    state = ran.table("algorithm_state")
    assert set(state["name"]) == {"acks", "step"}
    assert set(state.filter(pl.col("name") == "step")["value"]) == {2.0}
    acks = state.filter((pl.col("name") == "acks") & (pl.col("flow_id") == state["flow_id"][0]))["value"]
    assert acks.is_sorted()
    assert acks[-1] > 0
    assert ran.runs[0]["variant"] == "Mine"


def test_a_paced_sender_hears_of_losses_and_timeouts(tmp_path: Path) -> None:
    code = """
from p4cc import RateAlgorithm
class Mine(RateAlgorithm):
    def start(self):
        self.losses = self.timeouts = 0
    def on_loss(self, now_ns):
        self.losses += 1
        self.rate_bps = max(self.rate_bps / 2, 1e8)
    def on_timeout(self, now_ns):
        self.timeouts += 1
"""
    changes: dict[str, Any] = {
        "transport": {"kind": "rdma", "rto_ns": 500_000},
        "topology": {"kind": "star", "senders": 4, "rate_bps": 10_000_000_000, "rtt_ns": 10_000},
        "traffic": {"kind": "incast", "sru_bytes": 300_000},
        "record": {"state": ["losses", "timeouts"], "windows_interval_ns": 5_000},
    }
    changes["topology"]["queue_capacity_pkts"] = 20
    variant = {"name": "Mine", "rate_control": {"python": "mine.py:Mine"}}
    ran = run(tmp_path, scenario(**own(tmp_path, code, **changes) | {"variants": [variant]}))
    state = ran.table("algorithm_state")
    most = dict(state.group_by("name").agg(pl.col("value").max()).iter_rows())
    (row,) = ran.runs
    assert most["losses"] > 0
    assert 0 < most["timeouts"] <= row["timeouts"]


def test_only_runs_of_a_changed_file_run_again(tmp_path: Path) -> None:
    def made(code: str) -> Ran:
        write(tmp_path, scenario(**own(tmp_path, code)))
        request = RunRequest(tmp_path / "scenario.yaml", tmp_path / "out", figures=False, quiet=True)
        return Ran(run_scenario(request))

    first = made(RENO_IN_PYTHON)
    walls = [first.runs[0]["wall_s"], made(RENO_IN_PYTHON).runs[0]["wall_s"]]
    assert walls[0] == walls[1], "the second one is the first, from the cache"
    other = made(RENO_IN_PYTHON.replace("self.step / self.cwnd", "self.step / 2"))
    assert other.runs[0]["wall_s"] != walls[0]


def test_threads_and_random_numbers_leave_a_run_repeatable(tmp_path: Path) -> None:
    code = RENO_IN_PYTHON.replace("self.step / self.cwnd", "self.random.random() / self.cwnd")
    record = {"windows_interval_ns": 100_000}
    tables = [
        run(tmp_path / str(number), scenario(**own(tmp_path / str(number), code, record=record, seeds=[1, 2]))).bytes()
        for number in range(2)
    ]
    assert tables[0] == tables[1]
    windows = pl.read_parquet(tables[0]["windows.parquet"]).partition_by("seed")
    assert not windows[0].drop("seed").equals(windows[1].drop("seed"))


def test_a_package_offers_algorithms_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    (site / "offer-1.0.dist-info").mkdir(parents=True)
    (site / "offer-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: offer\nVersion: 1.0\n")
    (site / "offer-1.0.dist-info/entry_points.txt").write_text("[p4cc.algorithms]\nbest = offer_module:Mine\n")
    (site / "offer_module.py").write_text(RENO_IN_PYTHON)
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    offered.cache_clear()
    try:
        variants = [{"name": "Best", "congestion_avoidance": {"name": "best", "step": 1}}, RENO]
        ran = run(tmp_path, scenario(variants=variants, record={"windows_interval_ns": 100_000}))
    finally:
        offered.cache_clear()
    assert [row["algorithm"] for row in ran.runs] == ["best", "reno"]
    ((first, second),) = pairs(ran.outcome.folder, "windows")
    assert first.equals(second, null_equal=True)


def test_the_entry_reads_as_those_of_the_registry() -> None:
    entry = load_own("gst.py:Gst", "slow_start", EXAMPLES / "windows.yaml").entry
    assert (entry.name, entry.kind, entry.switch_needs) == ("Gst", "slow_start", "two_ecn_thresholds")
    assert entry.summary.startswith("Growth falls")
    assert {one.name: one.default for one in entry.parameters} == {
        "k": None,
        "k_dc": 65.0,
        "form": "text",
        "entry": "hold",
    }
    assert entry.needs_thresholds


def test_a_class_can_be_tried_without_a_run() -> None:
    class Mine(WindowAlgorithm):
        step = number(2, min=1, max=3)
        wanted = number(min=1, max=3)

    mine = Mine()
    mine.cwnd += mine.step
    assert (mine.cwnd, mine.ssthresh) == (3.0, 2.0**30)
    assert mine.on_timeout(20) == 10.0
    with pytest.raises(AttributeError, match="wanted has no default"):
        _ = mine.wanted
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="cwnd = "):
            mine.cwnd = wrong


def test_maths_of_every_machine() -> None:
    assert (maths.pow(2.0, 0.5), maths.cbrt(27.0), maths.exp(0.0), maths.log(1.0)) == (2**0.5, 3.0, 1.0, 0.0)


def test_folders_may_have_modules_of_the_same_name(tmp_path: Path) -> None:
    for folder, step in (("first", 1), ("second", 2), ("first", 1)):
        code = "from p4cc import WindowAlgorithm\nimport steps\n\nclass Mine(WindowAlgorithm):\n    step = steps.STEP\n"
        own(tmp_path / folder, code)
        (tmp_path / folder / "steps.py").write_text(f"STEP = {step}\n")
        found = load_own("mine.py:Mine", "congestion_avoidance", tmp_path / folder / "scenario.yaml")
        assert getattr(found.kind, "step", None) == step
