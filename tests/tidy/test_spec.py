"""Python's types of a network's description (p4cc/spec.py) are those of the engine's schema."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from p4cc import _engine

ROOT = Path(__file__).resolve().parents[2]


def test_the_types_are_made_from_the_engines_schema() -> None:
    tool = Path(sys.executable).with_name("datamodel-codegen")
    schema = _engine.network_schema()
    made = subprocess.run([tool], cwd=ROOT, input=schema, check=True, capture_output=True, text=True).stdout
    assert made == (ROOT / "p4cc/spec.py").read_text(encoding="utf-8"), "make spec"
