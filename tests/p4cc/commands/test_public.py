"""What `import p4cc` gives, and the experiments that it brings along."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import p4cc
from p4cc import bundled

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", p4cc.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(p4cc, name).__doc__


def test_another_name_is_none() -> None:
    assert not hasattr(p4cc, "no_such_name")


def test_importing_p4cc_loads_neither_tables_nor_models() -> None:
    code = "import sys, p4cc; sys.exit(bool({'polars', 'pydantic', 'matplotlib'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


@pytest.mark.parametrize("name", ["gst/incast", "gst/incast.yaml", "experiments/gst/incast.yaml"])
def test_an_experiment_is_found_by_name_from_elsewhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert p4cc.find_scenario(name) == ROOT / "experiments/gst/incast.yaml"
    scenario = p4cc.Scenario.load(name, topology__senders=25)
    assert scenario.name == "gst-incast"
    assert scenario.model_dump()["topology"]["senders"] == 25


def test_a_file_here_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gst").mkdir()
    Path("gst/incast").touch()
    assert p4cc.find_scenario("gst/incast") == Path("gst/incast")


@pytest.mark.parametrize(
    ("name", "near"), [("gst/incats", "gst/incast"), ("other/incast", "gst/incast"), ("nothing", "such as gst/incast")]
)
def test_an_unknown_name_is_refused_with_experiments_that_are_near(name: str, near: str) -> None:
    with pytest.raises(p4cc.UserError) as refused:
        p4cc.find_scenario(name)
    assert "the scenario does not exist" in str(refused.value)
    assert near in str(refused.value)


def test_bundled_files_stay_within_their_folders() -> None:
    assert bundled.bundled(Path("p4src/v1model/ecn_dual.p4")) == ROOT / "p4src/v1model/ecn_dual.p4"
    assert bundled.bundled(Path("p4src/../Cargo.toml")) is None
    assert bundled.bundled(Path("/etc/passwd")) is None
