"""What people get wrong with controllers; the table of mistakes of test_mistakes.py goes on here.

What goes wrong within a controller is in test_controller.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.p4cc.commands.test_mistakes import RUN, Mistake, ends_as_said
from tests.p4cc.scenarios import scenario

if TYPE_CHECKING:
    from pathlib import Path

MINE = "import p4cc\n\nclass Mine(p4cc.Controller):\n    {}\n"
IDLE = {"mine.py": MINE.format("pass")}


def controlled(controller: str | None = "mine.py:Mine", cpu_port: int | None = None, **control: Any) -> dict[str, Any]:
    """Changes of the scenario: a controller and the way to it."""
    switch = {**scenario()["switch"], "controller": controller, "cpu_port": cpu_port}
    return {"switch": switch, "control": control} if control else {"switch": switch}


MISTAKES = (
    Mistake(
        "a controller without a class",
        RUN,
        ("mine.yaml:", "$.switch.controller", "FILE.py:CLASS", "(it is 'mine.py')"),
        changes=controlled("mine.py"),
    ),
    Mistake("no such controller", RUN, ("no controller 'yours.py'", "searched "), changes=controlled("yours.py:Mine")),
    Mistake(
        "a controller that is no Python",
        RUN,
        ("mine.py: the controller cannot be loaded", "SyntaxError", "line 1"),
        changes=controlled(),
        files={"mine.py": "class Mine(:\n"},
    ),
    Mistake(
        "no such class",
        RUN,
        ("mine.py: has no class 'Yours'", "controllers in the file: Mine"),
        changes=controlled("mine.py:Yours"),
        files=IDLE,
    ),
    Mistake(
        "a class that is no controller",
        RUN,
        ("mine.py: Mine is not a p4cc.Controller", "derive the class from p4cc.Controller"),
        changes=controlled(),
        files={"mine.py": "class Mine:\n    pass\n"},
    ),
    Mistake(
        "a handler that nobody calls",
        RUN,
        ("Mine has a handler on_digests that p4cc never calls", "handlers: start", "on_digest"),
        changes=controlled(),
        files={"mine.py": MINE.format("async def on_digests(self, switch, digest): pass")},
    ),
    Mistake(
        "a handler that is no coroutine",
        RUN,
        ("mine.py: Mine.start is not a coroutine", "write async def start"),
        changes=controlled(),
        files={"mine.py": MINE.format("def start(self): pass")},
    ),
    Mistake(
        "an exception within a handler",
        RUN,
        ("mine.py:Mine: Mine.start, at 0 us", 'mine.py", line 4, in start', "KeyError: 's9'", "correct the controller"),
        changes=controlled(),
        files={"mine.py": MINE.format("async def start(self): self.switches['s9']")},
    ),
    Mistake(
        "a way to no controller",
        RUN,
        ("$.control", "the scenario has control settings but no controller", "switch.controller: FILE.py:CLASS"),
        changes=controlled(None, latency_ns=5),
    ),
    Mistake("a latency below 0", RUN, ("$.control.latency_ns", "(it is -1)"), changes=controlled(latency_ns=-1)),
    Mistake(
        "a latency that is a rate",
        RUN,
        ("$.control.latency_ns", "'5G' is a rate", "a time"),
        changes=controlled(latency_ns="5G"),
    ),
    Mistake(
        "a kind of latency that there is not",
        RUN,
        ("$.control.notify_latency_ns", "uniform"),
        changes=controlled(notify_latency_ns={"kind": "unifrom", "min_ns": 1, "max_ns": 2}),
    ),
    Mistake(
        "a latency upside down",
        RUN,
        ("$.control.latency_ns", "max_ns is less than min_ns"),
        changes=controlled(latency_ns={"kind": "uniform", "min_ns": 2, "max_ns": 1}),
    ),
    Mistake(
        "a mean below the least",
        RUN,
        ("$.control.latency_ns", "mean_ns is less than min_ns"),
        changes=controlled(latency_ns={"kind": "exponential", "min_ns": 2, "mean_ns": 1}),
    ),
    Mistake(
        "no time for handlers",
        RUN,
        ("$.control.handler_limit_s", "greater than 0"),
        changes=controlled(handler_limit_s=0),
    ),
    Mistake(
        "a parameter that the class lacks",
        RUN,
        ("mine.py:Mine: control.parameters do not match __init__", "'k'", "parameters of __init__: none"),
        changes=controlled(parameters={"k": 1}),
        files=IDLE,
    ),
    Mistake(
        "a controller that returns before it leaves",
        RUN,
        ("$.control.absences[0]", "returns_ns must be later than leaves_ns"),
        changes=controlled(absences=[{"leaves_ns": 5, "returns_ns": 5}]),
    ),
    Mistake(
        "a controller that leaves while it is away",
        RUN,
        ("$.control", "the absence that starts at 9 ns has not ended yet"),
        changes=controlled(absences=[{"leaves_ns": 5}, {"leaves_ns": 9, "returns_ns": 10}]),
    ),
    Mistake(
        "a fault of nothing",
        RUN,
        ("$.faults[0]", "give between (the two ends of a link) or switch (a name)"),
        changes={"faults": [{"down_ns": 5}]},
    ),
    Mistake(
        "a fault of no switch",
        RUN,
        ("faults[0].switch", 'there is no switch "s9"'),
        changes={"faults": [{"switch": "s9", "down_ns": 5}]},
    ),
    Mistake(
        "a switch that comes up before it goes down",
        RUN,
        ("faults[0].up_ns: 5 is out of range",),
        changes={"faults": [{"switch": "s1", "down_ns": 5, "up_ns": 5}]},
    ),
    Mistake(
        "an installation of a link",
        RUN,
        ("$.faults[0]", "install_delay_ns applies to a switch that comes up again"),
        changes={"faults": [{"between": ["s1", "h1"], "down_ns": 5, "up_ns": 6, "install_delay_ns": 7}]},
    ),
    Mistake(
        "a port that is none", (*RUN, "--serve", "x"), ("--serve", "'x' is not an address", "give PORT or IP:PORT")
    ),
    Mistake(
        "a port for the world",
        (*RUN, "--serve", "0.0.0.0:9559"),
        ("--serve", "'0.0.0.0:9559' is not a port of this machine's loopback"),
    ),
    Mistake(
        "a speed that is none",
        (*RUN, "--serve", "0", "--speed", "0"),
        ("--speed", "'0' is not a speed", "1e-06 to 1000, max or epochs"),
    ),
    Mistake("a speed of nothing", (*RUN, "--speed", "2"), ("--speed", "is for --serve", "add one of them")),
    Mistake(
        "many runs at a port",
        (*RUN, "--serve", "0"),
        ("--serve", "serves one run, and there are 2", "--variant NAME"),
        changes={"seeds": [1, 2]},
    ),
    Mistake("a CPU port that drops", RUN, ("$.switch.cpu_port", "(it is 511)"), changes=controlled(cpu_port=511)),
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake.name for mistake in MISTAKES])
def test_mistakes_of_controllers(tmp_path: Path, mistake: Mistake) -> None:
    ends_as_said(tmp_path, mistake)
