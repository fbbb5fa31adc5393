"""The page about Python: its blocks run in order, in one program and an empty folder."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import p4cc
import p4cc.parts
from p4cc.reference_pages import PAGES

ROOT = Path(__file__).resolve().parents[2]


def run(code: str, folder: Path) -> str:
    """What a program prints that runs in a folder."""
    env = {**os.environ, "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs/how-to/use-from-python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 10
    told = run("\n".join(blocks), tmp_path)
    assert "unknown key 'sender'" in told
    assert re.search(r"│ h2 +┆ \d+ +┆ 47 ", told), "the packet that was sent has arrived"
    assert (tmp_path / "fct.png").is_file()
    assert (tmp_path / "results/senders/flows.parquet").is_file()


@pytest.mark.parametrize("documented", [p4cc, p4cc.Network, p4cc.parts], ids=["p4cc", "Network", "parts"])
def test_an_example_of_a_docstring_runs(documented: object, tmp_path: Path) -> None:
    (block,) = re.findall(r"^```\n(.*?)^```", inspect.getdoc(documented) or "", re.MULTILINE | re.DOTALL)
    run(f"import p4cc\n{block}", tmp_path)


def test_the_reference_has_all_that_is_public() -> None:
    page = PAGES["reference/python.md"]()
    headings = re.findall(r"^## (\S+)$", page, re.MULTILINE)
    assert headings == [*(f"p4cc.{name}" for name in p4cc.__all__), "p4cc.parts"]
    assert "### p4cc.Network.modify" in page
    assert "queue_stats" in page
    assert all(f"| `{name}` |" in page for name in p4cc.parts.__all__)
    undocumented = re.findall(r"^### (\S+)\n\n(?:```python\n[^`]*```\n\n)?(?=\n*#|\Z)", page, re.MULTILINE)
    assert not undocumented
