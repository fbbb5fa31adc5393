"""What each exit code means; `p4cc --help` ends with it."""

from __future__ import annotations

from collections.abc import Mapping

DIFFERS = 1
"""Success, but the compared results differ."""
EVERYWHERE: Mapping[int, str] = {
    0: "success",
    DIFFERS: "success, but the answer is negative (see below)",
    2: "the command line, a file or the environment is wrong; the message gives place, cause and remedy",
    130: "interrupted by Ctrl-C, whatever your Python code was doing",
}
"""Codes of all commands."""

ANSWER_NO: Mapping[str, str] = {
    "run": "with --again, a table differs from the stored one",
    "reproduce": "an expectation of p4cc is not met (a paper's number outside its band is a finding, not a failure)",
    "compare": "a metric differs beyond the spread, or one side has no value",
    "check-algorithm": "an invariant is violated",
    "check": "a program has errors",
    "compile": "the program has errors",
    "dissector": "the program has errors",
    "fmt": "with --check, a file would change",
    "stf": "a test failed",
    "trace-packet": "a command of the test failed",
    "tofino-report": "a program does not compile for a chip",
    "lab": "a command or a check failed",
    "controller plan": "K is not less than K_dc",
    "controller diff": "install would write changes",
}
"""The meaning of 1 for each command; other commands never return it."""


def epilog() -> str:
    """The codes as a list, for the end of the help."""
    codes = [f"* {code}: {text}" for code, text in EVERYWHERE.items()]
    answers = [f"* {command}: {text}" for command, text in ANSWER_NO.items()]
    return "\n".join(("**Exit codes**\n", *codes, "\n**Exit code 1**\n", *answers))
