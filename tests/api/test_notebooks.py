"""The notebooks of docs/notebooks run as they stand there, without outputs; progress and tables show in their cells."""

# nbformat and nbclient have no types of their own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tests.p4cc.scenarios import ROOT, scenario

if TYPE_CHECKING:
    from pathlib import Path

NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
LIMIT_S = 120


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Kernels know nothing of this user's settings, and find p4cc as tests do."""
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("MPLBACKEND", raising=False)


def run(notebook: Any, folder: Path) -> list[dict[str, Any]]:
    """Runs all cells in a folder and gives the outputs of all, in order."""
    NotebookClient(
        notebook, timeout=LIMIT_S, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def shown(outputs: list[dict[str, Any]], kind: str) -> list[str]:
    """What cells showed of a kind."""
    return [output["data"][kind] for output in outputs if kind in output.get("data", {})]


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["first-incast", "own-algorithm", "own-p4-program"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_pictures_and_tables(path: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    outputs = run(nbformat.read(path, as_version=4), work)
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert len(shown(outputs, "image/png")) >= 2
    assert len(shown(outputs, "text/html")) >= 2
    assert (work / "results").is_dir()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_stands_here_without_outputs(path: Path) -> None:
    held = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in held["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in code)
    assert held["metadata"]["kernelspec"]["name"] == "python3"
    assert len({cell["id"] for cell in held["cells"]}) == len(held["cells"])
    assert str(ROOT) not in path.read_text(encoding="utf-8")


def test_progress_is_a_bar_in_the_cell_that_goes_away(tmp_path: Path) -> None:
    data = scenario(
        name="slow", traffic={"kind": "bulk"}, stop_ns=4_000_000_000, variants=[
            {"name": "<script>alert(1)</script>", "congestion_avoidance": {"name": "reno"}}
        ],
    )  # fmt: skip
    code = f"import p4cc\nresult = p4cc.run({data!r}, out={str(tmp_path / 'out')!r}, stop_ns=600_000_000)"
    told: list[str] = []
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code), nbformat.v4.new_code_cell("result")])
    client = NotebookClient(notebook, timeout=LIMIT_S, kernel_name="python3")
    process = client.process_message

    def listen(msg: dict[str, Any], cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] == "update_display_data":
            told.append(msg["content"]["data"]["text/html"])
        return process(msg, cell, cell_index)

    client.process_message = listen
    client.execute()
    bars = [text for text in told if "<progress" in text]
    assert bars
    assert told[-1] == ""
    assert all("<script" not in text for text in bars)
    (table,) = shown(notebook.cells[1].outputs, "text/html")
    assert "Result(slow: 1 runs" in table
    assert "&lt;script&gt;" in table


def test_a_mistake_in_a_cell_is_told_in_words(tmp_path: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("import p4cc\np4cc.run('gst/nothing')")])
    with pytest.raises(CellExecutionError, match="the scenario does not exist") as failed:
        run(notebook, tmp_path)
    assert "runner.py" not in failed.value.traceback, "the message, and not the way to it"
    assert "remedy: give the path of a YAML file" in failed.value.traceback
