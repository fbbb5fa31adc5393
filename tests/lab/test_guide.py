"""The tutorial of labs: its `sudo` lines run as they stand."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.lab.ports import GRPC, THRIFT

ROOT = Path(__file__).resolve().parents[2]
P4CC = (sys.executable, "-c", "from p4cc.start import main; main()")
PAGE = ROOT / "docs" / "tutorials" / "first-lab.md"
START = "sudo .venv/bin/p4cc lab "


def test_the_labs_of_the_tutorial_run(own: str, tmp_path: Path) -> None:
    lines = re.findall(rf"^{re.escape(START)}(.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert own == "p4cc"
    assert len(lines) == 2
    (tmp_path / "p4src").symlink_to(ROOT / "p4src")
    subprocess.run([*P4CC, "init", "lab", "lab.yaml"], cwd=tmp_path, capture_output=True, check=True)
    for line in lines:
        words = [*P4CC, "lab", *shlex.split(line), "--grpc-port", str(GRPC), "--thrift-port", str(THRIFT)]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        assert "0% packet loss" in done.stdout, line
