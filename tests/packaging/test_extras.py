"""Without its optional packages p4cc runs a scenario and writes tables; what needs more names the extra."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OPTIONAL = (
    "matplotlib",
    "PIL",
    "starlette",
    "uvicorn",
    "ray",
    "fsspec",
    "s3fs",
    "ipykernel",
    "IPython",
    "plotly",
    "itables",
)

# A Python that cannot find these packages.
WITHOUT = f"""
import sys
from importlib.machinery import PathFinder

class Without:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in {OPTIONAL!r} else PathFinder.find_spec(name, path, target)

sys.meta_path = [Without if finder is PathFinder else finder for finder in sys.meta_path]
"""


def python(code: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python without the optional packages, in a folder of its own."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def p4cc(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return python("from p4cc.cli import main\nmain()", folder, *words)


def test_a_run_writes_its_tables(tmp_path: Path) -> None:
    done = p4cc(tmp_path, "run", "gst/incast", "--set", "topology.senders=4", "--set", "seeds=[1]", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "pip install 'p4cc[figures]'" in done.stderr
    assert (tmp_path / "out" / "flows.parquet").is_file()
    assert not list(tmp_path.rglob("*.png"))


def test_a_run_from_python_gives_frames(tmp_path: Path) -> None:
    code = """
import p4cc
result = p4cc.run("gst/incast", topology__senders=4, seeds=[1])
print(len(result.flows))
try:
    result.plot
except p4cc.UserError as error:
    print(error.remedy)
"""
    done = python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    rows, remedy = done.stdout.splitlines()
    assert int(rows) > 0
    assert remedy.startswith("pip install 'p4cc[figures]'")


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("topo", "gst/incast", "--png", "star.png"), "figures"),
        (("sweep", "gst/incast", "--over", "switch.buffer_pkts=100,200", "--figure", "front.svg"), "figures"),
        (("reproduce", "gst", "--report"), "figures"),
        (("report", "."), "report"),
        (("run", "gst/incast", "--report"), "report"),
        (("run", "gst/incast", "--live"), "live"),
        (("lab", "lab/incast", "--live"), "live"),
        (("lab", "lab/incast", "--compare"), "figures"),
        (("run", "gst/incast", "--on", "ray"), "ray"),
        (("run", "gst/incast", "--store", "file:///nowhere"), "ray"),
    ],
)
def test_what_needs_more_names_the_extra(words: tuple[str, ...], extra: str, tmp_path: Path) -> None:
    done = p4cc(tmp_path, *words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count(f"pip install 'p4cc[{extra}]'") == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_optional_packages_are_those_of_the_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    plain = " ".join(project["dependencies"]).lower()
    assert not [name for name in OPTIONAL if name.lower() in plain]
    assert len(project["dependencies"]) <= 11
    assert set(project["optional-dependencies"]) >= {"figures", "report", "live", "lab", "ray", "notebook"}
