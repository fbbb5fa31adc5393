"""A command at a terminal: what is typed, and what the screen shows."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import time

from tests.switchd.namespaces import PATIENCE_S

UP = "\x1b[A"
END = "\x04"


class Terminal:
    """A running command."""

    def __init__(self, command: list[str]) -> None:
        self._fd, other = pty.openpty()
        environment = {**os.environ, "TERM": "xterm"}
        self.process = subprocess.Popen(
            command, stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True
        )
        os.close(other)
        self.shown = ""

    def type(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._fd, keys.encode())

    def until(self, text: str) -> str:
        """Waits for a text; what was shown up to it since the last call."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.shown:
            assert time.monotonic() < end, f"no {text!r} in {self.shown!r}"
            if select.select([self._fd], [], [], 0.2)[0]:
                # Colours, and moves of the cursor.
                self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", os.read(self._fd, 4096).decode())
        before, _, self.shown = self.shown.partition(text)
        return before

    def close(self) -> None:
        """Ends the command, if it runs still."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        os.close(self._fd)
