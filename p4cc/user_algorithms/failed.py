"""Errors of a user's algorithm, with the lines of the user's file, the flow and the virtual time."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.user_code import told
from p4cc.user_watch import REMEDY, WATCH, InterruptedCallError, TooLongError

if TYPE_CHECKING:
    from p4cc import _engine


def failed(error: _engine.AlgorithmError, of: str) -> UserError:
    """A UserError for an exception; `of` names the run, or the part of a scenario.

    Raises KeyboardInterrupt if Ctrl-C ended the algorithm.
    """
    cause = error.__cause__
    if isinstance(cause, KeyboardInterrupt | InterruptedCallError):
        raise KeyboardInterrupt from error
    frames = traceback.extract_tb(cause.__traceback__) if cause is not None else None
    is_too_long = isinstance(cause, TooLongError)
    # The exception is p4cc's and adds nothing.
    last_line = "" if is_too_long else None
    lines = f"\n{told(cause, frames[0].filename, last_line)}" if cause is not None and frames else f": {error.cause}"
    place = f"{of}: {error.place}"
    if is_too_long:
        said = f"a call of the algorithm took longer than {WATCH.limit_s:g} s"
        return UserError(f"{said}{lines}", place=place, remedy=REMEDY)
    return UserError(f"an algorithm failed{lines}", place=place, remedy="correct the class")
