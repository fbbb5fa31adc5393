"""The check of a number in a file of jobs, whatever its format."""

from __future__ import annotations

from p4cc.errors import UserError
from topos.loaders.words import shown, whole_number


def whole_word(key: str, word: str, least: int, most: int, place: str) -> int:
    """The whole number in a range that a word of digits is; raises UserError at its place."""
    number = whole_number(word)
    if number is None or not least <= number <= most:
        raise _fault(key, word, least, most, place)
    return number


def whole(key: str, value: object, least: int, most: int, place: str) -> int:
    """`whole_word` of a value that has a type; None is one that the file does not have."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _fault(key, value, least, most, place)
    return value


def _fault(key: str, value: object, least: int, most: int, place: str) -> UserError:
    said = "missing" if value is None else shown(str(value))
    return UserError(f"{key} is {said}", place=place, remedy=f"give a whole number from {least} to {most}")
