"""`make setup`: says how far it is, builds each crate once, goes on after Ctrl-C (engine/build.py)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "engine" / "build.py"

# As cargo writes it: a carriage return behind each look at its progress, colours where it is told to.
CARGO = (
    "    Updating crates.io index\n"
    "  Downloaded syn v3.0.9\n"
    "    Building [>                      ] 0/268\r"
    "   Compiling syn v3.0.9\n"
    "\x1b[1m\x1b[36m    Building\x1b[0m [=>                     ] 9/268: syn, libc\r"
    "warning: unused variable `größe`\n"
    "    Building [=====================> ] 267/268: _engine\r"
    "    Finished `release` profile [optimized + debuginfo] target(s) in 6m 40s\n"
)


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("p4cc_engine_build", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("step", [1, 7, 4096])
def test_a_line_every_few_seconds_says_how_far_it_is(step: int) -> None:
    build = loaded()
    said: list[str] = []
    time_s = 0.0
    progress = build.Progress("engine (2 of 2)", said.append, lambda: time_s)
    kept: list[str] = []
    lines = build.Lines()
    # In pieces as a pipe gives them: an end of line, a colour and a letter of two bytes may be cut.
    wrote = CARGO.encode()
    pieces = [wrote[at : at + step] for at in range(0, len(wrote), step)]
    for line in [line for piece in [*pieces, b""] for line in lines.feed(piece)]:
        kept += [] if progress.read(line) else [line.strip()]
        time_s += 3.0
        progress.tick()
    assert said == [
        "setup: engine (2 of 2), 0:06, Downloaded syn v3.0.9",
        "setup: engine (2 of 2), 0:12, 268 of 268 steps left",
        "setup: engine (2 of 2), 0:18, 259 of 268 steps left, syn for 0:06, libc for 0:06",
        "setup: engine (2 of 2), 0:24, 1 of 268 steps left, _engine for 0:06",
    ]
    assert "warning: unused variable `größe`" in kept
    assert not any("Building" in line for line in kept)


def environment(folder: Path, maturin: str, cargo: str = "exit 0") -> dict[str, str]:
    """A virtual environment whose maturin is a shell script, and a search path whose cargo is one."""
    (folder / "bin").mkdir()
    for name, text in (("maturin", maturin), ("cargo", cargo)):
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / "bin" / name).chmod(0o755)
    return {"PATH": f"{folder / 'bin'}:/usr/bin:/bin"}


def test_programs_are_put_in_place_and_a_running_one_goes_on(tmp_path: Path) -> None:
    built = tmp_path / "target"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", built)
    message = f'{{"reason": "compiler-artifact", "executable": "{built}"}}'
    cargo = f"case \"$*\" in *p4cc-switchd*p4cc-agent*) ;; *) exit 1 ;; esac\necho '{message}'\necho warned >&2"
    path = environment(tmp_path, "exit 0", cargo)
    put = tmp_path / "bin" / "target"
    words = [sys.executable, SCRIPT, tmp_path]
    said = subprocess.run(words, env=path, capture_output=True, text=True, check=True).stdout
    assert "setup: built in 0:" in said
    with subprocess.Popen([put, "60"]) as running:
        subprocess.run(words, env=path, capture_output=True, check=True)
        assert running.poll() is None
        running.kill()
    assert put.read_bytes() == built.read_bytes()
    assert (tmp_path / "engine-build.log").read_text() == "warned\n"
    assert sorted(file.name for file in (tmp_path / "bin").iterdir()) == ["cargo", "maturin", "target"]


def test_a_build_that_fails_shows_what_the_compiler_said(tmp_path: Path) -> None:
    path = environment(tmp_path, "printf '    Building [> ] 1/9: syn\\r' >&2; echo 'error: no such thing' >&2; exit 1")
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], env=path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "error: no such thing"
    assert "building failed" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_says_that_it_goes_on(tmp_path: Path) -> None:
    path = environment(tmp_path, f"touch {tmp_path}/began; exec sleep 600")
    words = [sys.executable, SCRIPT, tmp_path]
    build = subprocess.Popen(words, env=path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    until = time.monotonic() + 60
    while not (tmp_path / "began").exists():
        assert time.monotonic() < until, "the build did not begin"
        time.sleep(0.01)
    # A terminal sends it to all that run in front: the
    # compiler hears it though the build may be about to wait.
    os.killpg(build.pid, signal.SIGINT)
    _, said = build.communicate(timeout=60)
    assert (build.returncode, said) == (130, "setup: interrupted; `make setup` continues from here\n")


def test_set_up_builds_each_crate_once() -> None:
    """The Python module is built by a call of its own: what it shares with the programs must have the same features."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not on PATH")
    module, programs = features("p4cc-py"), features(*loaded().PROGRAMS)
    shared = module.keys() & programs.keys()
    assert {"serde_json", "tokio", "p4cc-exec"} <= {name.split()[0] for name in shared}
    assert {name: programs[name] for name in shared} == {name: module[name] for name in shared}


def test_tests_build_every_crate_with_checks_and_share_the_rest() -> None:
    """Settings of crates by name leave the others as set-up builds them: Cranelift is built once."""
    members = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    manifests = [tomllib.loads((ROOT / member / "Cargo.toml").read_text(encoding="utf-8")) for member in members]
    checked = tomllib.loads((ROOT / "engine" / "tests.toml").read_text(encoding="utf-8"))["profile"]["release"]
    settings = checked.pop("package")
    assert not checked
    assert settings.keys() == {manifest["package"]["name"] for manifest in manifests}
    assert all(one["debug-assertions"] and one["overflow-checks"] for one in settings.values())


def features(*packages: str) -> dict[str, set[str]]:
    """Of every crate that these packages hold when they run, the sets of features that it is built with."""
    words = ["cargo", "tree", "--locked", "--edges", "normal", "--prefix", "none", "--no-dedupe", "--format", "{p};{f}"]
    words += [word for package in packages for word in ("--package", package)]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found: dict[str, set[str]] = {}
    for line in listed.splitlines():
        crate, _, chosen = line.partition(";")
        # Folder and kind stand in parentheses.
        found.setdefault(crate.partition(" (")[0], set()).add(chosen)
    return found
