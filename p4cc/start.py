"""Entry point of the `p4cc` command: asks for large pages of memory, then hands over to the command line.

Packets of a large network lie scattered over hundreds of megabytes. With pages of 4 KiB the processor spends a good
part of a run on finding where a page is (docs/reference/performance.md, "Large pages"). glibc asks the kernel for
large pages where an environment variable says so. It reads the variable before a program starts, so the commands that
simulate start once more with it, before anything else is imported. `GLIBC_TUNABLES=glibc.malloc.hugetlb=0` keeps
large pages off. Other C libraries ignore the variable.
"""

from __future__ import annotations

import os
import sys

from p4cc.large_pages import VARIABLE, with_large_pages

SIMULATING = ("run", "reproduce", "sweep")
"""Commands that pay for starting twice, some 20 ms."""


def main() -> None:
    """Run the command line, the commands that simulate with large pages."""
    if sys.platform == "linux" and sys.argv[1:2] and sys.argv[1] in SIMULATING:
        _ask_for_large_pages()
    from p4cc.cli import main as command_line

    command_line()


def _ask_for_large_pages() -> None:
    """Start this very command once more, unless the variable is as it should be."""
    before = os.environ.get(VARIABLE, "")
    os.environ[VARIABLE] = with_large_pages(before)
    if os.environ[VARIABLE] != before:
        # What is started is this command with its own words, past any shell.
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606
