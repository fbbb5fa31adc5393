"""The claims of experiments/gst, end to end: P4 source, controller over gRPC, senders, results.

Grids are cut to the points that the claims name; seeds are the scenario's own where a claim says "every seed".
"""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl
import pytest

from p4cc.errors import UserError
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario

ROOT = Path(__file__).resolve().parents[2]
INCAST = ROOT / "experiments" / "gst" / "incast.yaml"
FIG8 = ROOT / "experiments" / "gst" / "fig8.yaml"
QUIET = ("record.windows_interval_ns=null", "record.queues_interval_ns=null")

# GST as this folder had it before: doubling goes on to
# the end of the window of the first mark, K by the rule.
WINDOW_CLOSE = (
    "variants.GST-DCTCP.slow_start.entry=window_close",
    "switch.thresholds.k_pkts=33",
    "topology.rtt_ns=98800",
)

Runs = list[dict[str, Any]]


def run(
    folder: Path, scenario: Path, *overrides: str, variants: tuple[str, ...] = (), jobs: int = 2, figures: bool = False
) -> Runs:
    """All runs of a scenario, in place of those before; without its figures unless asked for."""
    request = RunRequest(
        scenario=scenario,
        out=folder / "out",
        overrides=overrides,
        variants=variants,
        jobs=jobs,
        figures=figures,
        quiet=True,
        force=True,
    )
    return run_scenario(request).summary["runs"]


def of(runs: Runs, variant: str, senders: int | None = None) -> Runs:
    """Runs of one variant, and of one number of senders if given."""
    found = [one for one in runs if one["variant"] == variant and senders in (None, one["senders"])]
    assert found, f"no run of {variant} with {senders} senders"
    return found


def timed_out(runs: Runs) -> list[bool]:
    """Whether each run had a timeout."""
    return [one["timeouts"] > 0 for one in runs]


@pytest.fixture(scope="module")
def incast(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """The main grid at the points that the claims name."""
    folder = tmp_path_factory.mktemp("incast")
    return run(folder, INCAST, "topology.senders=[4, 6, 20, 40, 60, 70]", *QUIET)


def test_every_flow_completes_and_sends_all_its_bytes(incast: Runs) -> None:
    for one in incast:
        assert one["flows_completed"] == one["senders"]
        assert one["flows_timed_out"] <= one["senders"]
        assert 0 < one["goodput_bps"] < 10_000_000_000


def test_dctcp_collapses(incast: Runs) -> None:
    for senders in (4, 6):
        assert median(one["timeouts"] for one in of(incast, "DCTCP", senders)) == 0
    for senders in (20, 40, 60):
        runs = of(incast, "DCTCP", senders)
        assert all(timed_out(runs))
        assert median(one["goodput_bps"] for one in runs) < 0.15 * 10e9


def test_gst_does_not(incast: Runs) -> None:
    for senders in (20, 40, 60, 70):
        runs = of(incast, "GST-DCTCP", senders)
        assert median(one["timeouts"] for one in runs) == 0
        assert median(one["goodput_bps"] for one in runs) >= 9e9


def test_the_literal_exponent_times_out_where_the_text_s_does_not(tmp_path: Path) -> None:
    runs = run(
        tmp_path,
        INCAST,
        "topology.senders=[40, 70]",
        "variants.GST-DCTCP.slow_start.delta=literal",
        *WINDOW_CLOSE,
        *QUIET,
        variants=("GST-DCTCP",),
    )
    assert all(timed_out(runs))


def test_the_phase_of_simultaneous_packets_decides(tmp_path: Path) -> None:
    """Without jitter of hosts DCTCP collapses at 14 senders (README, "Phases and jitter")."""
    overrides = ("topology.senders=14", "host_jitter_ns=0", *QUIET)
    assert all(timed_out(run(tmp_path, INCAST, *overrides, variants=("DCTCP",))))


def test_figure_8(tmp_path: Path) -> None:
    """25 senders, buffer 100: K 25 ends near the pure serialisation time, K 45 and DCTCP wait for a timer."""
    runs = run(tmp_path, FIG8, *QUIET)
    wire_bytes = 25 * (512_000 + 64 * -(-512_000 // 1436))
    serialisation_ns = wire_bytes * 8 / 10
    assert not any(timed_out(of(runs, "GST-DCTCP")))
    assert median(one["finish_ns"] for one in of(runs, "GST-DCTCP")) - serialisation_ns < 600_000
    assert all(timed_out(of(runs, "GST-DCTCP K=45")))
    assert all(one["finish_ns"] > 200_000_000 for one in of(runs, "DCTCP"))


def test_thresholds_at_the_buffer_make_all_marks_vanish(tmp_path: Path) -> None:
    """Marks come from the controller's table entries, through the P4 program, and from nowhere else."""
    overrides = ("topology.senders=20", "seeds=[1]", *QUIET)
    with_marks = run(tmp_path, INCAST, *overrides)
    assert all(one["marks_level1"] + one["marks_level2"] > 0 for one in with_marks)
    without = run(
        tmp_path,
        INCAST,
        "switch.thresholds={k_rule: fixed, k_pkts: 150, k_dc_pkts: 150}",
        *overrides,
    )
    assert all(one["marks_level1"] == one["marks_level2"] == 0 for one in without)
    assert all(one["drops"] > 0 for one in without)


def test_changing_the_p4_source_changes_the_result(tmp_path: Path) -> None:
    """A program that never marks level 1 takes the smoothing away from GST."""
    sources = tmp_path / "p4src"
    shutil.copytree(ROOT / "p4src", sources)
    control = sources / "controls" / "ecn_dual.p4"
    text = control.read_text(encoding="utf-8")
    marking = "level = LEVEL_K;"
    assert text.count(marking) == 1
    control.write_text(text.replace(marking, "level = LEVEL_NONE;"), encoding="utf-8")
    overrides = ("topology.senders=40", "seeds=[1]", *QUIET)
    original = run(tmp_path, INCAST, *overrides, variants=("GST-DCTCP",))[0]
    changed = run(
        tmp_path, INCAST, f"switch.program={sources / 'v1model' / 'ecn_dual.p4'}", *overrides, variants=("GST-DCTCP",)
    )[0]
    assert original["marks_level1"] > 0
    assert changed["marks_level1"] == 0
    assert changed["marks_level2"] > 0
    assert changed["finish_ns"] != original["finish_ns"]


def test_gst_and_sce_codepoints_give_identical_completion_times(tmp_path: Path) -> None:
    flows: list[pl.DataFrame] = []
    for profile in ("gst", "sce"):
        folder = tmp_path / profile
        run(folder, INCAST, f"switch.ecn_profile={profile}", "topology.senders=[12, 30]", *QUIET)
        flows.append(pl.read_parquet(folder / "out" / "flows.parquet"))
    assert flows[0].height == 2 * 5 * (12 + 30)
    assert flows[0].equals(flows[1])


def test_one_seed_gives_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    tables: list[dict[str, bytes]] = []
    for name, seeds, jobs in (("a", "[1, 2]", 1), ("b", "[1, 2]", 2), ("c", "[1, 3]", 2)):
        folder = tmp_path / name
        run(folder, INCAST, f"seeds={seeds}", "topology.senders=[8, 25]", "record.events=true", jobs=jobs)
        tables.append({path.name: path.read_bytes() for path in sorted((folder / "out").glob("*.parquet"))})
    first, same, other = tables
    assert {"flows.parquet", "windows.parquet", "queues.parquet", "counters.parquet"} <= set(first)
    assert first == same
    assert first["flows.parquet"] != other["flows.parquet"]


@pytest.mark.parametrize(
    ("scenario", "overrides", "picture"),
    [
        (INCAST, ("topology.senders=[2, 3]", "seeds=[1]"), "incast.png"),
        (FIG8, ("topology.senders=3", "seeds=[1]"), "fig8.png"),
    ],
)
def test_every_scenario_draws_its_figure(
    tmp_path: Path, scenario: Path, overrides: tuple[str, ...], picture: str
) -> None:
    run(tmp_path, scenario, *overrides, figures=True)
    assert (tmp_path / "out" / picture).read_bytes().startswith(b"\x89PNG")


def test_a_figure_that_cannot_be_drawn_leaves_the_results(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no column 'gudput'"):
        run(tmp_path, INCAST, "topology.senders=[2]", "seeds=[1]", "figures.0.panels.0.y=gudput", figures=True)
    assert (tmp_path / "out" / "summary.json").exists()
    assert not (tmp_path / "out" / "incast.png").exists()
