"""Programs that p4cc installs next to Python: the switch, its command line, the agent."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

BUILD = (
    "install p4cc from a wheel, or run `make setup` in a checkout; programs built elsewhere are found on PATH, "
    "or by P4CC_SWITCH, P4CC_SWITCH_CLI and P4CC_AGENT, which hold their paths"
)
"""What to do where one is missing."""


def find_own(name: str) -> str | None:
    """A program of this project: named by a variable, next to Python or on PATH."""
    near = Path(sys.executable).parent / name
    # A name in capitals says where it is instead, for a build elsewhere: P4CC_SWITCH for p4cc-switch.
    given = os.environ.get(name.upper().replace("-", "_"))
    places = (given, str(near), shutil.which(name))
    return next((found for found in places if found and os.access(found, os.X_OK)), None)
