"""A wheel in an environment of its own, away from the checkout: the main job runs from an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
HOSTS = ROOT / "target/linux-hosts/release/p4cc-hosts"
# Longer than a cold build of the engine, which set-up has made as a rule.
BUILD_TIMEOUT_S = 1_500
MOST_PACKAGES = 28
"""In an environment with the wheel alone, p4cc and what its packages need included."""


def call(words: list[str], folder: Path, timeout_s: float = 300) -> str:
    """What a command prints; it must end well."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    protos = BIN.parent / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "finsy" / "proto"
    environment |= {"P4CC_PROTO_DIR": environment.get("P4CC_PROTO_DIR", str(protos)), "PYO3_PYTHON": sys.executable}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, as `make wheel` makes it."""
    out = tmp_path_factory.mktemp("dist")
    call([sys.executable, "engine/wheel.py", str(out)], ROOT, BUILD_TIMEOUT_S)
    (made,) = out.glob("*.whl")
    return made


def test_one_wheel_serves_every_python(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name


def test_programs_and_experiments_are_in_the_wheel(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, suffixes in (("p4src", {".p4"}), ("experiments", {".yaml", ".cdf"})):
        ours = {f"p4cc/data/{path.relative_to(ROOT)}" for path in (ROOT / folder).rglob("*") if path.suffix in suffixes}
        assert ours, folder
        assert not ours - names
    assert {"p4cc/py.typed", "controller/bfrt/bfruntime.binpb"} <= names
    assert not [name for name in names if name.startswith(("tests/", "experiments/", "p4src/"))]


def test_senders_for_the_kernel_are_in_the_wheel(wheel: Path, tmp_path: Path) -> None:
    if not HOSTS.exists():
        pytest.skip("p4cc-hosts is not built: make linux-hosts")
    (name,) = (name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".data/scripts/p4cc-hosts"))
    program = Path(zipfile.ZipFile(wheel).extract(name, tmp_path))
    assert program.read_bytes() == HOSTS.read_bytes()
    program.chmod(0o755)
    assert call([str(program), "--version"], tmp_path).startswith("p4cc-hosts ")


def test_the_main_job_runs_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    uv = str(BIN / "uv")
    environment, empty = tmp_path / "environment", tmp_path / "empty"
    empty.mkdir()
    call([uv, "venv", "--quiet", "--python", sys.executable, str(environment)], tmp_path)
    requirements = tmp_path / "requirements.txt"
    export = [uv, "export", "--quiet", "--frozen", "--all-extras", "--no-dev", "--no-emit-project", "--no-hashes"]
    requirements.write_text(call(export, ROOT), encoding="utf-8")
    python, p4cc = str(environment / "bin" / "python"), str(environment / "bin" / "p4cc")
    install = [uv, "pip", "install", "--quiet", "--python", python, "--constraint", str(requirements)]
    call([*install, str(wheel)], tmp_path)
    # The wheel alone: tables, and no figure.
    job = [p4cc, "run", "gst/incast", "--set", "seeds=[1]", "--out", "results/gst-incast"]
    assert "GST-DCTCP" in call(job, empty)
    results = empty / "results" / "gst-incast"
    assert (results / "flows.parquet").is_file()
    assert not (results / "incast.png").exists()
    assert len(list(environment.glob("lib/*/site-packages/*.dist-info"))) <= MOST_PACKAGES
    # The switch comes along, and answers to the names of BMv2.
    call([p4cc, "drop-in", str(empty / "names")], empty)
    assert "p4c 1." in call([str(empty / "names/p4c"), "--version"], empty)
    assert "." in call([str(empty / "names/simple_switch_grpc"), "--version"], empty)
    # With its extra the same call draws.
    call([*install, f"{wheel}[report]"], tmp_path)
    call([*job, "--report"], empty)
    assert (results / "incast.png").stat().st_size > 10_000
    assert (results / "report.html").stat().st_size > 100_000
    here = call([python, "-c", "import p4cc; print(p4cc.__file__); print(p4cc.Scenario.load('gst/fig8').name)"], empty)
    assert str(ROOT) not in here
    assert "gst-fig8" in here
    shutil.rmtree(environment)
