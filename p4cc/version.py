"""The version of p4cc, for `p4cc --version` and for results; imports nothing slow."""

from __future__ import annotations

import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_GIT_TIMEOUT_S = 5.0


def p4cc_version() -> str:
    """The version of this p4cc."""
    try:
        return version("p4cc")
    except PackageNotFoundError:
        return "unknown"


@cache
def commit() -> str | None:
    """The commit that p4cc runs from, with `-dirty` where files differ from it; None outside a checkout."""
    words = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=40", "--match="]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
