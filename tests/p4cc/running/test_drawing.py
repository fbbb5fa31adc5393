"""Figures are prepared while runs proceed."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from pathlib import Path

WAITS = '''
import sys, time
import p4cc

class Mine(p4cc.WindowAlgorithm):
    """Holds its run until the plotting library is there."""
    def observe(self, ack):
        while "matplotlib.figure" not in sys.modules:
            time.sleep(0.01)
'''


def test_the_plotting_library_is_imported_during_runs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WAITS)
    mine = {"name": "Mine", "congestion_avoidance": {"python": "mine.py:Mine"}}
    figure = {"kind": "over_time", "file": "windows.png", "panels": [{"y": "cwnd_segments"}]}
    record = {"windows_interval_ns": 100_000, "queues_interval_ns": None}
    path = write(tmp_path, scenario(variants=[mine], figures=[figure], record=record))
    out = tmp_path / "out"
    words = [sys.executable, "-m", "p4cc.cli", "run", str(path), "--json", "--out", str(out)]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert (out / "windows.png").is_file()


def test_a_library_that_cannot_be_imported_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "broken/matplotlib").mkdir(parents=True)
    (tmp_path / "broken/matplotlib/__init__.py").write_text("raise RuntimeError('broken library')\n")
    figure = {"kind": "over_time", "file": "windows.png", "panels": [{"y": "cwnd_segments"}]}
    record = {"windows_interval_ns": 100_000, "queues_interval_ns": None}
    path = write(tmp_path, scenario(figures=[figure], record=record))
    words = [sys.executable, "-m", "p4cc.cli", "run", str(path), "--out", str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "broken")}
    ended = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    assert ended.stderr.count("RuntimeError: broken library") == 1, ended.stderr
    assert "Exception in thread" not in ended.stderr
