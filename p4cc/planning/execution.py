"""The execution engines of the embedded switch."""

from __future__ import annotations

from enum import StrEnum


class Exec(StrEnum):
    """Execution back ends; results do not depend on the choice."""

    INTERP = "interp"
    """The interpreter, which defines the semantics."""
    NATIVE = "native"
    """Native code; the interpreter for programs without it."""
