"""The command starts once more where that makes it faster, and only once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from p4cc.large_pages import VARIABLE, with_large_pages

P4CC = str(Path(sys.executable).with_name("p4cc"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "glibc.malloc.hugetlb=1"),
        ("glibc.malloc.check=1", "glibc.malloc.check=1:glibc.malloc.hugetlb=1"),
        ("glibc.malloc.hugetlb=0", "glibc.malloc.hugetlb=0"),
    ],
)
def test_what_the_variable_said_stays(before: str, after: str) -> None:
    assert with_large_pages(before) == after
    assert with_large_pages(after) == after


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has glibc's variable")
@pytest.mark.parametrize(("command", "starts"), [("run", 2), ("topo", 1)])
def test_only_commands_that_simulate_start_twice(command: str, starts: int, tmp_path: Path) -> None:
    # Python reads this file each time that it starts.
    (tmp_path / "sitecustomize.py").write_text("print('start', flush=True)\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    environment["PYTHONPATH"] = str(tmp_path)
    done = subprocess.run([P4CC, command, "--help"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.count("start\n") == starts
    assert "Usage: p4cc" in done.stdout
