"""A row of any table of BF Runtime as a user writes it: names and values, nothing resolved."""

from dataclasses import dataclass

Value = bool | int | float | str | list[int] | list[bool] | list[str]
"""A number (an address too), truth, text or list of them; a list of bytes may be digits of base 16 behind `0x`."""


@dataclass(frozen=True)
class BfrtRow:
    """A row of a table; `place` says where it is written.

    A key has one value (exact), or two: value and prefix length (lpm), value and mask (ternary), or low and high
    (range). A default entry has no key.
    """

    table: str
    key: tuple[tuple[str, tuple[int | str, ...]], ...]
    action: str | None
    data: tuple[tuple[str, Value], ...]
    place: str
    default: bool = False
