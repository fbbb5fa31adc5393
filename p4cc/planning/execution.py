"""What runs P4 programs in the embedded switch."""

from __future__ import annotations

from enum import StrEnum


class Exec(StrEnum):
    """Execution back ends; results do not depend on the choice."""

    INTERP = "interp"
    """The interpreter, which defines what is right."""
    NATIVE = "native"
    """Native code; the interpreter where there is none for a program."""
