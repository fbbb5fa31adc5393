"""The folder of commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from p4cc.drop_in import folder as drop_in
from p4cc.errors import UserError

NAMES = [
    "p4c",
    "p4c-bm2-psa",
    "p4c-bm2-ss",
    "p4runtime-sh",
    "p4test",
    "psa_switch",
    "psa_switch_CLI",
    "simple_switch",
    "simple_switch_CLI",
    "simple_switch_grpc",
]
PATIENCE_S = 60


@pytest.fixture(autouse=True)
def bare_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH without p4c and BMv2, whatever the machine has."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def installed(folder: Path, name: str) -> Path:
    """A program of this name that somebody installed."""
    folder.mkdir()
    program = folder / name
    program.write_text("#!/bin/sh\necho theirs\n")
    program.chmod(0o755)
    return program


def test_each_command_runs_by_its_name(tmp_path: Path) -> None:
    made = drop_in.make(tmp_path / "bin", shadow=False)
    assert [command.name for command in made] == NAMES
    said = {
        name: subprocess.run(
            [tmp_path / "bin" / name, "--version"], capture_output=True, text=True, timeout=PATIENCE_S, check=True
        ).stdout
        for name in NAMES
        if name != "p4runtime-sh"
    }
    assert all(said.values()), said


def test_the_shell_says_what_to_install_and_runs_once_it_is(tmp_path: Path) -> None:
    drop_in.make(tmp_path / "bin", shadow=False)
    shell = [tmp_path / "bin/p4runtime-sh", "--grpc-addr", "localhost:1"]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "-m pip install --no-deps p4runtime-shell" in done.stderr
    package = tmp_path / "packages/p4runtime_sh"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import sys\nfrom p4.v1 import p4runtime_pb2\nprint(sys.argv, p4runtime_pb2.Uint128(low=1).low)\n"
    )
    (package.parent / "IPython.py").touch()
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    done = subprocess.run(shell, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=True)
    assert done.stdout == "['p4runtime-sh', '--grpc-addr', 'localhost:1'] 1\n"


def test_a_program_that_is_installed_keeps_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = installed(tmp_path / "theirs", "p4c")
    monkeypatch.setenv("PATH", f"{theirs.parent}:{os.environ['PATH']}")
    made = drop_in.make(tmp_path / "bin", shadow=False)
    assert "p4c" not in [command.name for command in made]
    assert not (tmp_path / "bin/p4c").exists()
    assert [c.shadowed for c in drop_in.commands(tmp_path / "bin") if c.name == "p4c"] == [theirs]
    assert "p4c" in [command.name for command in drop_in.make(tmp_path / "bin", shadow=True)]
    # Asked again without it, the name goes back.
    drop_in.make(tmp_path / "bin", shadow=False)
    assert not (tmp_path / "bin/p4c").exists()


def test_the_folder_on_path_does_not_shadow_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drop_in.make(tmp_path / "bin", shadow=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    assert [command.name for command in drop_in.make(tmp_path / "bin", shadow=False)] == NAMES


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    theirs = installed(tmp_path / "bin", "simple_switch")
    with pytest.raises(UserError, match="was not made by p4cc drop-in"):
        drop_in.make(tmp_path / "bin", shadow=False)
    assert "theirs" in theirs.read_text()
    assert [path.name for path in (tmp_path / "bin").iterdir()] == ["simple_switch"]


def test_files_of_others_among_what_commands_call_are_left_alone(tmp_path: Path) -> None:
    drop_in.make(tmp_path / "bin", shadow=False)
    inner = tmp_path / "bin/.commands/simple_switch_CLI"
    inner.unlink()
    inner.write_text("theirs")
    with pytest.raises(UserError, match="was not made by p4cc drop-in"):
        drop_in.make(tmp_path / "bin", shadow=False)
    assert inner.read_text() == "theirs"
    assert (tmp_path / "bin/simple_switch_CLI").exists()


def test_a_shell_with_the_environment_finds_commands_and_messages(tmp_path: Path) -> None:
    drop_in.make(tmp_path / "bin", shadow=False)
    variables = drop_in.environment(tmp_path / "bin")
    program = (
        "from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc; from p4.config.v1 import p4info_pb2;"
        "from google.rpc import code_pb2, status_pb2; from p4.tmp import p4config_pb2;"
        "config = p4config_pb2.P4DeviceConfig(reassign=True, device_data=b'x');"
        "print(p4runtime_pb2_grpc.P4RuntimeStub.__name__, config.SerializeToString().hex())"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], env=variables, capture_output=True, text=True, timeout=PATIENCE_S, check=True
    ).stdout
    assert said.split() == ["P4RuntimeStub", "08011a0178"]
    found = subprocess.run(
        ["/bin/sh", "-c", "command -v p4c"],
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert found.stdout.strip() == str(tmp_path / "bin" / "p4c")
