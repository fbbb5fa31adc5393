"""Texts of words whose lines do not count, as C++ streams read them; every error names its line."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal, InvalidOperation

Fault = Callable[[int, str, str], Exception]
"""Makes the error for a line, a cause and a remedy."""

_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)
_SHOWN = 40


class Words:
    """The words of a text, read one by one."""

    def __init__(self, text: str, fault: Fault) -> None:
        self._fault = fault
        self._line = 1
        self._words = _split(text)

    def error(self, cause: str, remedy: str) -> Exception:
        """The error of a fault at the word read last."""
        return self._fault(self._line, cause, remedy)

    def word(self, what: str) -> str:
        """The next word."""
        try:
            self._line, word = next(self._words)
        except StopIteration:
            remedy = "check that the counts match what follows"
            raise self.error(f"the text ends before the {what}", remedy) from None
        return word

    def whole(self, what: str, least: int, most: int) -> int:
        """A whole number in a range."""
        word = self.word(what)
        value = int(word) if _WHOLE.fullmatch(word) else -1
        if not least <= value <= most:
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


def shown(word: str) -> str:
    """A word as messages show it: on one line, and not too long."""
    return repr(word if len(word) <= _SHOWN else f"{word[: _SHOWN - 3]}...")


def _split(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.split():
            yield number, word
