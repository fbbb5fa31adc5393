"""An exception of a user's algorithm, told with the lines of the user's file, the flow and the virtual time."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.user_code import told

if TYPE_CHECKING:
    from p4cc import _engine


def failed(error: _engine.AlgorithmError, of: str) -> UserError:
    """What the user is told; `of` says which run it was, or which part of a scenario."""
    cause = error.__cause__
    frames = traceback.extract_tb(cause.__traceback__) if cause is not None else None
    lines = f"\n{told(cause, frames[0].filename)}" if cause is not None and frames else f": {error.cause}"
    return UserError(f"an algorithm failed{lines}", place=f"{of}: {error.place}", remedy="correct the class")
