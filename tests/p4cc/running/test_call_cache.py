"""A call that is made again finds that its results stand, or makes anew what does not: never a wrong answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from p4cc.running import drawing
from p4cc.running.call_cache import Call, this_code
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.command_line import p4cc
from tests.p4cc.scenarios import ROOT, scenario, write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FIGURES = [
    {"kind": "bar", "file": f"{name}.png", "title": name, "panels": [{"y": name}]} for name in ("goodput_bps", "drops")
]
LONG = ("polars", "pyarrow", "matplotlib", "finsy", "grpc", "p4cc.scenario.schema")
"""What only the long way imports."""
TABLE, FIGURE = "flows.parquet", "drops.png"


def call(folder: Path, *more: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command line in a folder, on its scenario, into `out`."""
    words = ["run", "scenario.yaml", "--out", "out", "--jobs", "1", *more]
    return p4cc(*words, folder=folder, env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})})


def results(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Files of the results with when they were written."""
    files = (path for path in sorted((folder / "out").rglob("*")) if path.is_file())
    return {str(path.relative_to(folder / "out")): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def tables(folder: Path) -> dict[str, bytes]:
    """Tables and figures as they are."""
    return {name: held for name, (_, held) in results(folder).items() if name.endswith((".parquet", ".png"))}


def runs(folder: Path) -> set[str]:
    return {path.name for path in folder.glob(".p4cc-cache/??/*.zip")}


def is_written(folder: Path, before: dict[str, tuple[int, bytes]]) -> bool:
    """Whether a call went the long way: it writes when it ran."""
    return results(folder)["run.json"][0] != before["run.json"][0]


def made(folder: Path, **changes: Any) -> dict[str, tuple[int, bytes]]:
    """A scenario with a program, an included file and sizes beside it, run once."""
    shutil.copy(ROOT / "p4src/v1model/ecn_dual.p4", folder / "mine.p4")
    text = (folder / "mine.p4").read_text(encoding="utf-8")
    (folder / "mine.p4").write_text('#include "more.p4"\n' + text, encoding="utf-8")
    (folder / "more.p4").write_text("// Mine.\n", encoding="utf-8")
    (folder / "sizes.txt").write_text("1000 0\n3000 100\n", encoding="utf-8")
    data = scenario(
        switch={"program": "mine.p4", "thresholds": {"k_rule": "fixed", "k_pkts": 20}},
        traffic={
            "kind": "poisson",
            "size": {"kind": "cdf", "file": "sizes.txt"},
            "mean_gap_ns": 1e5,
            "end_ns": 2_000_000,
        },
        figures=FIGURES,
        **changes,
    )
    write(folder, data)
    first = call(folder)
    assert first.returncode == 0, first.stderr
    return results(folder)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `place` in which the call was made once, and a copy of it."""
    base = tmp_path_factory.mktemp("standing")
    (base / "place").mkdir()
    made(base / "place")
    shutil.copytree(base / "place", base / "copy")
    return base


@pytest.fixture
def folder(base: Path) -> Path:
    """That folder as it was after the call."""
    shutil.rmtree(base / "place")
    shutil.copytree(base / "copy", base / "place")
    return base / "place"


def test_results_that_stand_are_left_as_they_are(folder: Path) -> None:
    before, plain = results(folder), call(folder)
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "p4cc.cli", "run", "scenario.yaml", "--out", "out", "--json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert results(folder) == before
    assert "unchanged out/drops.png" in plain.stdout
    assert json.loads(said.stdout) == json.loads(before["summary.json"][1])
    imported = {line.rpartition("|")[2].strip() for line in said.stderr.splitlines()}
    assert not imported & set(LONG)
    # The long way says the same, but that it wrote.
    (place,) = folder.glob(".p4cc-cache/??/*.call")
    place.unlink()
    assert call(folder).stdout == plain.stdout.replace("unchanged ", "wrote ")


@pytest.mark.parametrize("name", [TABLE, FIGURE, "inputs/mine.p4"])
def test_what_was_deleted_is_made_anew(folder: Path, name: str) -> None:
    before = tables(folder)
    (folder / "out" / name).unlink()
    assert call(folder).returncode == 0
    assert tables(folder) == before
    assert (folder / "out" / name).is_file()


@pytest.mark.parametrize("name", [TABLE, FIGURE])
def test_what_was_edited_is_the_users(folder: Path, name: str) -> None:
    (folder / "out" / name).write_bytes(b"mine")
    done = call(folder)
    assert done.returncode == 2
    assert f"{name} was changed since p4cc wrote it" in done.stderr
    assert (folder / "out" / name).read_bytes() == b"mine"


def test_a_file_with_the_name_of_a_result_is_the_users(folder: Path) -> None:
    (folder / "out" / "events.parquet").write_bytes(b"mine")
    done = call(folder)
    assert done.returncode == 2
    assert "events.parquet has the name of a result" in done.stderr


def _edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return edit


def _shadow(folder: Path) -> None:
    """A file of this name in the folder comes before those that p4cc brings."""
    (folder / "p4src/v1model").mkdir(parents=True)
    shutil.copy(folder / "mine.p4", folder / "p4src/v1model/ecn_dual.p4")
    (folder / "p4src/v1model/more.p4").write_text("typedef bit<3> seen_t;\n", encoding="utf-8")


@pytest.mark.parametrize(
    "change",
    [
        _edit("scenario.yaml", '"k_pkts": 20', '"k_pkts": 3'),
        _edit("more.p4", "// Mine.", "const bit<8> MINE = 8w3;"),
        _edit("sizes.txt", "3000", "9000"),
    ],
    ids=["scenario", "included file", "sizes"],
)
def test_what_decides_a_run_has_it_made_anew(folder: Path, change: Callable[[Path], None]) -> None:
    kept = runs(folder)
    change(folder)
    assert call(folder).returncode == 0
    assert len(runs(folder) - kept) == 1


def test_a_file_that_is_found_earlier_has_the_run_made_anew(folder: Path) -> None:
    _edit("scenario.yaml", "mine.p4", "p4src/v1model/ecn_dual.p4")(folder)
    assert call(folder).returncode == 0
    kept = runs(folder)
    _shadow(folder)
    assert call(folder).returncode == 0
    assert len(runs(folder) - kept) == 1


def test_runs_that_are_gone_are_made_anew(folder: Path) -> None:
    before = tables(folder)
    kept = runs(folder)
    shutil.rmtree(folder / ".p4cc-cache")
    assert call(folder).returncode == 0
    assert runs(folder) == kept
    assert tables(folder) == before


def test_other_looks_have_figures_drawn_anew(folder: Path) -> None:
    before = tables(folder)
    (folder / "looks").write_text("axes.facecolor: red\n", encoding="utf-8")
    looks = {"MATPLOTLIBRC": str(folder / "looks")}
    assert call(folder, env=looks).returncode == 0
    red = tables(folder)
    assert red[FIGURE] != before[FIGURE]
    assert red[TABLE] == before[TABLE]
    (folder / "looks").write_text("axes.facecolor: blue\n", encoding="utf-8")
    assert call(folder, env=looks).returncode == 0
    assert tables(folder)[FIGURE] not in (red[FIGURE], before[FIGURE])


@pytest.mark.parametrize("place", [0, 10, 200, 500, 2_000, -1])
def test_a_damaged_record_is_none(folder: Path, place: int) -> None:
    """Whatever bit of it flipped: the numbers of the table that is printed stand in it."""
    (record,) = folder.glob(".p4cc-cache/??/*.call")
    data = bytearray(record.read_bytes())
    data[place] ^= 1
    record.write_bytes(data)
    before = results(folder)
    assert call(folder).returncode == 0
    assert is_written(folder, before)
    again = results(folder)
    assert call(folder).returncode == 0
    assert not is_written(folder, again)


def test_other_options_are_other_calls(folder: Path) -> None:
    assert call(folder, "--no-figures").returncode == 0
    assert not (folder / "out" / FIGURE).exists()
    assert call(folder).returncode == 0
    assert (folder / "out" / FIGURE).is_file()
    before = results(folder)
    assert call(folder, "--no-cache").returncode == 0
    assert is_written(folder, before)


def test_users_python_is_asked_each_time(tmp_path: Path) -> None:
    shutil.copy(ROOT / "experiments/own_algorithms/dctcp.py", tmp_path / "own.py")
    own = {"name": "own", "congestion_avoidance": {"python": "own.py:Dctcp"}}
    before = made(tmp_path, variants=[own])
    assert call(tmp_path).returncode == 0
    assert is_written(tmp_path, before)


def test_only_figures_that_change_are_drawn(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    draw = drawing.draw_figure

    def counting(figure: Any, *rest: Any) -> None:
        drawn.append(figure.file)
        draw(figure, *rest)

    monkeypatch.setattr(drawing, "draw_figure", counting)

    def again() -> list[str]:
        drawn.clear()
        path, out = folder / "scenario.yaml", folder / "out"
        asked = Call(path, out, (), (), figures=True, report=False, force=False, p4cc=this_code())
        run_scenario(RunRequest(path, out=out, quiet=True, call=asked))
        return list(drawn)

    assert again() == ["goodput_bps.png", "drops.png"]
    assert again() == []
    _edit("scenario.yaml", '"title": "drops"', '"title": "lost"')(folder)
    assert again() == ["drops.png"]
    (folder / "out" / "goodput_bps.png").unlink()
    assert again() == ["goodput_bps.png"]
    # Another table, the same figures.
    _edit("sizes.txt", "3000", "9000")(folder)
    assert again() == ["goodput_bps.png", "drops.png"]
