"""The how-to page of `p4cc controller`: its commands run against a switch without interfaces."""

from __future__ import annotations

import re
import shlex
import subprocess

from tests.command_line import ROOT, p4cc

PAGE = ROOT / "docs" / "how-to" / "check-a-switch.md"
LISTENS = "P4Runtime server listening on "


def test_the_commands_of_the_page_compare_install_and_compare() -> None:
    text = PAGE.read_text(encoding="utf-8")
    (start,) = re.findall(r"^(p4cc-switch .*) &$", text, re.MULTILINE)
    lines = re.findall(r"^p4cc (controller .*)$", text, re.MULTILINE)
    words = [*shlex.split(start), "-L", "info", "--log-console", "--", "--grpc-server-addr", "127.0.0.1:0"]
    with subprocess.Popen([ROOT / ".venv" / "bin" / words[0], *words[1:]], stdout=subprocess.PIPE, text=True) as switch:
        try:
            assert switch.stdout is not None
            address = next(line.split(LISTENS)[1].strip() for line in switch.stdout if LISTENS in line)
            done = [p4cc(*shlex.split(line), "--server", address) for line in lines]
        finally:
            switch.terminate()
    assert [(one.returncode, one.stderr) for one in done] == [(code, "") for code in (1, 0, 0, 0, 1)]
    first, _, second, shown, changed = (one.stdout for one in done)
    (inserts,) = re.findall(r"The first `diff` lists (\d+) inserts", text)
    assert first.startswith(f"s1: {inserts} updates, push pipeline\n")
    assert first.count("  insert ") == int(inserts)
    assert second == "s1: 0 updates\n"
    assert "aggregat" in shown
    (announced,) = re.findall(r"^```text\n(.*?)\n  \.\.\.\n```", text, re.MULTILINE | re.DOTALL)
    assert changed.startswith(announced)
