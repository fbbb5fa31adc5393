"""What a user can get wrong: one exception that carries place, cause and remedy."""

from __future__ import annotations


class UserError(Exception):
    """Something outside the program is wrong; printed as one message, exit code `exit_code`."""

    exit_code = 2

    def __init__(self, cause: str, *, place: str = "", remedy: str = "") -> None:
        super().__init__(cause)
        self.cause = cause
        self.place = place
        self.remedy = remedy

    def __str__(self) -> str:
        text = f"{self.place}: {self.cause}" if self.place else self.cause
        return f"{text}\n  remedy: {self.remedy}" if self.remedy else text

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows of it: the message, as the command line does."""
        return str(self).splitlines()


class InterruptedRunError(UserError):
    """Ctrl-C during a run."""

    exit_code = 130
