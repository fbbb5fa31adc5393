"""p4net's own tests of a switch, from its source distribution, with `p4cc-switch` in the place of simple_switch_grpc.

p4net is a lab framework on P4Runtime (PyPI). Its package is fetched once into `target/`; where that cannot be done, or
this machine has not what its labs need, the test is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.switchd.namespaces import ROOT, attempt, needs_namespaces, run, switch_program

VERSION = "1.8.0"
REQUIREMENTS = Path(__file__).with_name("p4net-requirements.txt")
FOLDER = ROOT / "target" / f"p4net-{VERSION}"
#: What p4net's labs start.
TOOLS = {"ip": "iproute2", "ping": "iputils-ping", "tcpdump": "tcpdump"}
FETCH_S, TESTS_S = 300, 3_000
#: A variable of the environment.
ASKED_FOR = "P4CC_TEST_P4NET"
#: Of its tests that start a switch, those about the machine's links and p4net's own benchmark are left out.
FILES = ("tests/control", "tests/cli", "tests/network")
#: Tests that have the kernel spoil a link, for machines whose kernel cannot.
NEED_NETEM = "not (impairment or loss_config or ping_loss or ping_zero)"
#: docs/reference/differences-from-bmv2.md, "requests before a push".
DIFFERS = {
    f"tests/control/test_async_client_integration.py::test_unconfigured_pipeline_does_not_imply_lost_primary[{operation}]"
    for operation in ("read", "write")
}


def command(*words: str | Path) -> None:
    """Runs a command that may fail for want of a network: that skips the test."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, timeout=FETCH_S, check=False, cwd=ROOT
    )
    if done.returncode != 0:
        pytest.skip(f"p4net {VERSION} cannot be fetched: {done.stderr.strip()[-300:]}")


@pytest.fixture(scope="module")
def p4net() -> Path:
    """The folder of p4net's source distribution, with an environment that has it installed."""
    if os.environ.get(ASKED_FOR) != "1":
        pytest.skip(f"p4net's tests take many minutes: {ASKED_FOR}=1 runs them")
    needs_namespaces()
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            pytest.skip(f"p4net's labs need {tool}: apt-get install {package}")
    source = FOLDER / f"p4net-{VERSION}"
    if not (FOLDER / "fetched").exists():
        shutil.rmtree(FOLDER, ignore_errors=True)
        command(sys.executable, "-m", "venv", FOLDER / "venv")
        pip = (FOLDER / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "--retries", "1")
        command(*pip, "install", "--quiet", "--only-binary", ":all:", "-r", REQUIREMENTS)
        wanted = (f"p4net=={VERSION}", "--no-deps", "--no-binary", "p4net", "--dest", FOLDER)
        command(*pip, "download", "--quiet", *wanted)
        with tarfile.open(FOLDER / f"p4net-{VERSION}.tar.gz") as packed:
            packed.extractall(FOLDER, filter="data")
        (FOLDER / "fetched").touch()
    return source


def has_netem() -> bool:
    """Whether the kernel can spoil a link."""
    add = ("tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1us")
    namespace = f"p4t{os.getpid()}-netem"
    run("ip", "netns", "add", namespace)
    try:
        return shutil.which("tc") is not None and attempt("ip", "netns", "exec", namespace, *add)
    finally:
        run("ip", "netns", "del", namespace)


def write_tool(folder: Path, name: str, text: str) -> None:
    """A program of the search path that p4net's tests get."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def test_p4nets_own_tests_pass_or_are_listed(p4net: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, function in (("p4c", "p4c"), ("simple_switch_CLI", "simple_switch_cli")):
        text = (
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n"
            f"from tests.switchd.p4net_tools import {function}\nsys.exit({function}(sys.argv[1:]))\n"
        )
        write_tool(tools, name, text)
    write_tool(tools, "simple_switch_grpc", f'#!/bin/sh\nexec {switch_program()} --arbitration bmv2 "$@"\n')
    # p4net's own settings have one `-q` already; two would leave out the line of sums.
    words = ["--run-integration", "--run-p4c", "--run-bmv2", "-rfE", "-p", "no:cacheprovider"]
    left_out = [] if has_netem() else ["-k", NEED_NETEM]
    done = subprocess.run(
        [str(p4net.parent / "venv/bin/python"), "-m", "pytest", *words, "-m", "requires_bmv2", *left_out, *FILES],
        cwd=p4net,
        env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=TESTS_S,
        check=False,
    )
    failed = set(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE))
    assert failed <= DIFFERS, done.stdout[-8_000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 50, done.stdout[-2_000:]
