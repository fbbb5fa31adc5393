"""The page about Python: its blocks run in order, in one program and an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs/how-to/use-from-python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    env = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "unknown key 'sender'" in done.stdout
    assert (tmp_path / "fct.png").is_file()
    assert (tmp_path / "results/senders/flows.parquet").is_file()
