"""A folder of results says what was run, with what, by which version, and is enough to run it again."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow.parquet as pq
import pytest

from p4cc.analysis.tables import TABLES, table
from p4cc.results_page import markdown
from p4cc.running import provenance
from p4cc.scenario.schema import Record
from tests.command_line import BARE, p4cc
from tests.p4cc.scenarios import ROOT, run, scenario, write

if TYPE_CHECKING:
    from pathlib import Path

GST = {"name": "GST", "slow_start": {"name": "gst"}, "congestion_avoidance": {"name": "dctcp", "g": 0.125}}


def cli(*arguments: str, folder: Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command line, in a folder and an environment of its own."""
    return p4cc(*arguments, folder=folder, env={**BARE, **(environment or {})})


def told(folder: Path) -> dict[str, Any]:
    """run.json."""
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_a_folder_says_what_was_run(tmp_path: Path) -> None:
    data = scenario(variants=[GST], sweep={"topology.senders": [2, 3]}, seeds=[1, 2])
    ran = run(tmp_path, data, "transport.rwnd=32")
    found = told(ran.outcome.folder)
    assert found["p4cc"] == provenance.this_p4cc()
    assert found["p4cc"]["version"] == version("p4cc")
    assert len(found["p4cc"]["engine_sha256"]) == 64
    assert (found["set"], found["seeds"]) == (["transport.rwnd=32"], [1, 2])
    # Defaults are written out: the scenario says nothing of initial sequence or limits.
    assert found["scenario"]["limits"]["max_events"] == 1_000_000_000
    assert found["scenario"]["transport"]["rwnd"] == 32
    first, second = found["cases"]
    assert (first["senders"], second["senders"]) == (2, 3)
    avoidance, start = first["algorithms"]["congestion_avoidance"], first["algorithms"]["slow_start"]
    assert (avoidance["g"], avoidance["alpha0"]) == (0.125, 1.0)
    assert start["name"] == "gst"
    assert "rate_control" not in first["algorithms"]
    assert [(one["k_pkts"], one["ports"]) for one in first["installed"]] == [(20, 3)]
    (program,) = found["inputs"]
    assert program["name"] == "p4src/v1model/ecn_dual.p4"
    assert (ran.outcome.folder / program["file"]).read_text(encoding="utf-8").count("package V1Switch") >= 1
    assert found["duration_s"] > 0


def test_a_folder_alone_runs_again_with_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    sizes = tmp_path / "sizes.txt"
    sizes.write_text("1000 0\n30000 100\n", encoding="utf-8")
    program = tmp_path / "mine.p4"
    shutil.copy(ROOT / "p4src/v1model/ecn_dual.p4", program)
    shutil.copytree(ROOT / "p4src", tmp_path / "p4src")
    traffic = {"kind": "poisson", "size": {"kind": "cdf", "file": str(sizes)}, "mean_gap_ns": 2e5, "end_ns": 2_000_000}
    data = scenario(traffic=traffic, variants=[GST, {**GST, "name": "other"}])
    data["switch"]["program"] = "p4src/v1model/ecn_dual.p4"
    path = write(tmp_path, data)
    assert cli("run", str(path), "--variant", "GST", "--out", "own/out", folder=tmp_path).returncode == 0
    moved = tmp_path / "elsewhere"
    (tmp_path / "own" / "out").rename(moved)
    for gone in (path, sizes, program):
        gone.unlink()
    again = cli("run", "--again", str(moved), "--json", folder=tmp_path)
    assert again.returncode == 0, again.stdout + again.stderr
    found = json.loads(again.stdout)
    assert found["differing"] == found["changed"] == []
    assert "flows.parquet" in found["equal"]


def test_another_result_is_said(tmp_path: Path) -> None:
    folder = run(tmp_path, scenario()).outcome.folder
    text = (folder / "scenario.json").read_text(encoding="utf-8").replace("20000", "21000")
    (folder / "scenario.json").write_text(text, encoding="utf-8")
    done = cli("run", "--again", str(folder), folder=tmp_path)
    assert done.returncode == 1
    assert "differs: flows.parquet" in done.stdout


@pytest.mark.parametrize(
    ("held", "said"),
    [(None, "no such file"), ("{", "is not JSON"), ("[]", "what was run"), ("[" * 100_000, "is not JSON")],
)
def test_a_folder_that_does_not_say_is_refused(tmp_path: Path, held: str | None, said: str) -> None:
    if held is not None:
        (tmp_path / "run.json").write_text(held, encoding="utf-8")
    done = cli("run", "--again", str(tmp_path), folder=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "remedy" in done.stderr


def test_version(tmp_path: Path) -> None:
    done = cli("--version", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith(f"p4cc {version('p4cc')}")


def _schema(path: Path) -> Any:
    """pyarrow's stubs leave fields partly untyped."""
    return pq.read_schema(path)  # pyright: ignore[reportUnknownMemberType]


def _metadata(path: Path) -> Any:
    return pq.read_metadata(path)  # pyright: ignore[reportUnknownMemberType]


def test_every_column_is_described_in_its_file(tmp_path: Path) -> None:
    folder = run(tmp_path, scenario(record={"events": True, "rtts": True})).outcome.folder
    files = sorted(folder.glob("*.parquet"))
    assert {"flows.parquet", "windows.parquet", "rtts.parquet"} <= {path.name for path in files}
    for path in files:
        schema, known = _schema(path), table(path.stem)
        assert schema.metadata[b"description"].decode() == f"one row per {known.row}"
        for field in schema:
            assert field.metadata[b"description"], f"{path.stem}.{field.name}"
    fct = _schema(folder / "flows.parquet").field("fct_ns").metadata
    assert fct[b"unit"] == b"ns"
    assert b"did not finish" in fct[b"null"]


def test_every_row_names_the_variant_and_its_algorithm(tmp_path: Path) -> None:
    reno = {"name": "mine", "congestion_avoidance": {"name": "reno"}}
    ran = run(tmp_path, scenario(variants=[GST, reno], record={"events": True, "rtts": True}))
    known = [{"variant": "GST", "algorithm": "gst+dctcp"}, {"variant": "mine", "algorithm": "reno"}]
    for path in sorted(ran.outcome.folder.glob("*.parquet")):
        table = pl.read_parquet(path)
        assert table.columns[:2] == ["variant", "algorithm"], path.name
        names = table.select("variant", "algorithm").unique(maintain_order=True).to_dicts()
        assert names in (known, known[:1], known[1:]), path.name
        # A name takes a place in the dictionary of each run, not in each row.
        columns = [_metadata(path).row_group(group).column(1) for group in range(_metadata(path).num_row_groups)]
        assert all("RLE_DICTIONARY" in column.encodings for column in columns)
        assert all(column.total_compressed_size < 200 for column in columns)
    for row in (*ran.runs, *told(ran.outcome.folder)["cases"]):
        assert {"variant": row["variant"], "algorithm": row["algorithm"]} in known
    # The name is one that --set variant= takes.
    again = run(tmp_path, scenario(), "variant=gst+dctcp")
    assert {one["algorithm"] for one in again.runs} == {"gst+dctcp"}


def test_units_of_columns_are_those_of_their_names() -> None:
    endings = {"_ns": "ns", "_bytes": "bytes", "_pkts": "packets", "_bps": "bit/s", "_segments": "segments"}
    for one in TABLES:
        names = [column.name for column in one.columns]
        assert len(set(names)) == len(names), one.name
        for column in one.columns:
            for ending, unit in endings.items():
                if column.name.endswith(ending):
                    assert column.unit == unit, f"{one.name}.{column.name}"


def test_what_a_table_needs_is_a_field_of_scenarios() -> None:
    fields = [field for one in TABLES for field in re.findall(r"record\.(\w+)", one.when)]
    assert fields
    assert set(fields) <= set(Record.model_fields)


def test_the_page_of_results_is_fresh() -> None:
    assert (ROOT / "docs/reference/results.md").read_text(encoding="utf-8") == markdown(), "make results-page writes it"
