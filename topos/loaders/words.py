"""Texts of words whose lines do not count, as C++ streams read them; every error names its line."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation

Fault = Callable[[int, str, str], Exception]
"""Makes the error for a line, a cause and a remedy."""

_WHOLE = re.compile(r"[0-9]{1,19}", re.ASCII)
"""So few digits that Python reads them at once; every range ends below."""
_SHOWN = 40


class Words:
    """The words of a text, read one by one."""

    def __init__(self, text: str, fault: Fault) -> None:
        self._fault = fault
        self._line = 1
        self._words = _split(text)
        self._following: tuple[int, str] | None = None
        """A word that was looked at, with its line."""

    @property
    def line(self) -> int:
        """The line of the word read last."""
        return self._line

    def error(self, cause: str, remedy: str) -> Exception:
        """The error of a fault at the word read last."""
        return self._fault(self._line, cause, remedy)

    def at_end(self) -> bool:
        """Whether no word is left."""
        return self._next_word() is None

    def next_is_whole(self) -> bool:
        """Whether the next word is a whole number; False at the end."""
        following = self._next_word()
        return following is not None and whole_number(following) is not None

    def _next_word(self) -> str | None:
        """The next word, which stays to be read."""
        if self._following is None:
            self._following = next(self._words, None)
        return None if self._following is None else self._following[1]

    def word(self, what: str) -> str:
        """The next word."""
        if (word := self._next_word()) is None or self._following is None:
            raise self.error(f"the text ends before the {what}", "check that the counts match what follows")
        self._line, self._following = self._following[0], None
        return word

    def whole(self, what: str, least: int, most: int) -> int:
        """A whole number in a range."""
        word = self.word(what)
        value = whole_number(word)
        if value is None or not least <= value <= most:
            raise self.error(f"the {what} is {shown(word)}", f"give a whole number from {least} to {most}")
        return value

    def number(self, what: str, least: int, most: int) -> Decimal:
        """A number in a range."""
        word = self.word(what)
        try:
            value = Decimal(word)
        except InvalidOperation:
            value = Decimal("nan")
        # Comparisons with not-a-number raise.
        if value.is_nan() or not least <= value <= most:
            raise self.error(f"the {what} is {shown(word)}", f"give a number from {least} to {most}")
        return value


def whole_number(word: str) -> int | None:
    """The number that a word of digits is; none if it has a sign, a point, or more digits than any number here."""
    return int(word) if _WHOLE.fullmatch(word) else None


def shown(word: str) -> str:
    """A word as messages show it: on one line, and not too long."""
    return repr(word if len(word) <= _SHOWN else f"{word[: _SHOWN - 3]}...")


def _split(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.split():
            yield number, word
