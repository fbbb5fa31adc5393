"""simple_switch_CLI at a terminal: lines are edited and remembered, and tab completes them, as BMv2's does.

The command itself reads lines from a pipe; this hands it what was typed, and asks it for the names of the program.
"""

from __future__ import annotations

import os
import readline
import subprocess
import sys
from typing import IO, cast

PROMPT = "RuntimeCmd: "
_OURS = ("EOF", "help")


class CommandLine:
    """The command, and what may follow the words of a line."""

    def __init__(self, words: list[str]) -> None:
        # The words are those of the script that `p4cc drop-in` made.
        self._process = subprocess.Popen(  # noqa: S603
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,  # A line that it does not take is not kept for when its input is closed.
        )
        self._input, self._output = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._found: list[str] = []

    def until_prompt(self) -> tuple[str, bool]:
        """What it says until it asks for a line; False at its end."""
        said = b""
        while not said.endswith(PROMPT.encode()):
            more = os.read(self._output.fileno(), 65536)
            if not more:
                return said.decode(errors="replace"), False
            said += more
        return said.decode(errors="replace").removesuffix(PROMPT), True

    def tell(self, line: str) -> None:
        """Hands a line to it; raises BrokenPipeError if it reads no more."""
        self._input.write(f"{line}\n".encode())

    def end(self) -> int:
        """Ends its input; its exit code."""
        self._input.close()
        print(self.until_prompt()[0], end="")
        return self._process.wait()

    def complete(self, begun: str, number: int) -> str | None:
        """As `readline` asks: the words that a begun one may become, one by one."""
        if number == 0:
            words = readline.get_line_buffer()[: readline.get_begidx()].split()
            self._found = [f"{word} " for word in self._after(words) if word.startswith(begun)]
        return self._found[number] if number < len(self._found) else None

    def _after(self, words: list[str]) -> list[str]:
        uses = self._answer("help")
        if not words or words == ["help"]:
            first = (use.split() for line in uses for use in line.split("  ")[0].split(" / "))
            return sorted({use[0] for use in first if use} | set(_OURS))
        takes = " ".join(uses)
        if len(words) == 1 and f"{words[0]} TABLE" in takes:
            return _names(self._answer("show_tables"))
        if len(words) == 2 and f"{words[0]} TABLE ACTION" in takes:
            return _names(self._answer(f"table_show_actions {words[1]}"))
        return []

    def _answer(self, line: str) -> list[str]:
        self.tell(line)
        return [one.strip() for one in self.until_prompt()[0].splitlines()]


def _names(lines: list[str]) -> list[str]:
    """The first word of each line that describes a table or an action."""
    return [line.split()[0] for line in lines if "[" in line]


def main() -> int:
    """Runs the command that the words name until its input or it ends."""
    command = CommandLine(sys.argv[1:])
    readline.set_completer(command.complete)
    readline.set_completer_delims(" \t\n")
    readline.parse_and_bind("tab: complete")
    last = ""
    while True:
        said, goes_on = command.until_prompt()
        print(said, end="", flush=True)
        if not goes_on:
            return command.end()
        try:
            line = input(PROMPT)
        except EOFError:
            return command.end()
        # An empty line repeats the command before it, which completing may have changed.
        last = line if line.strip() else last
        try:
            command.tell(last)
        except BrokenPipeError:
            # It has ended meanwhile.
            return command.end()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
