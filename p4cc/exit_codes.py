"""What each exit code means; `p4cc --help` ends with it."""

from __future__ import annotations

from collections.abc import Mapping

DIFFERS = 1
"""Done, and the compared results differ."""
EVERYWHERE: Mapping[int, str] = {
    0: "done",
    DIFFERS: "done, and the answer is no (below)",
    2: "the command line, a file or something else outside of p4cc is wrong: the message names place, cause and remedy",
    130: "interrupted by Ctrl-C, whatever Python code of yours was doing",
}
"""Codes of all commands."""

ANSWER_NO: Mapping[str, str] = {
    "run": "with --again, a table has other bytes",
    "reproduce": "an expectation of p4cc's own is not met; a paper's number outside its band is a finding",
    "compare": "a metric differs beyond the spread, or one side has no value",
    "check-algorithm": "a property does not hold",
    "check": "a program has errors",
    "compile": "the program has errors",
    "dissector": "the program has errors",
    "stf": "a test failed",
    "tofino-report": "a program does not compile for a chip",
    "lab": "a command or a check failed",
    "controller plan": "K is not below K_dc",
    "controller diff": "install would write something",
}
"""What 1 says of a command; commands that are not here never end with it."""


def epilog() -> str:
    """The codes as a list, for the end of the help."""
    codes = [f"* {code}: {text}" for code, text in EVERYWHERE.items()]
    answers = [f"* {command}: {text}" for command, text in ANSWER_NO.items()]
    return "\n".join(("**Exit codes**\n", *codes, "\n**Exit code 1**\n", *answers))
