"""p4cc: one description of a congestion-control experiment, run on a switch that executes the P4 program.

```
import p4cc

result = p4cc.run("gst/incast", topology__senders=25, seeds=[1])
print(result.flows["fct_ns"].median(), result.units("flows")["fct_ns"])
result.plot.cdf("fct")
```

Names load when they are first used: `p4cc --version` does not wait for tables and plots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topos.late_names import late_names

if TYPE_CHECKING:
    from p4cc.api.network import Network
    from p4cc.api.now import Snapshot
    from p4cc.api.result import Result, load
    from p4cc.api.run import compile, run, sweep  # noqa: A004 - the API's name
    from p4cc.bundled import experiments, find_scenario
    from p4cc.control.controller import Controller
    from p4cc.errors import UserError
    from p4cc.scenario.built import Scenario
    from p4cc.user_algorithms.base import RateAlgorithm, ReceiverAlgorithm, SlowStart, WindowAlgorithm
    from p4cc.user_algorithms.check import check_algorithm
    from p4cc.user_algorithms.parameters import choice, number

__all__ = [
    "Controller",
    "Network",
    "RateAlgorithm",
    "ReceiverAlgorithm",
    "Result",
    "Scenario",
    "SlowStart",
    "Snapshot",
    "UserError",
    "WindowAlgorithm",
    "check_algorithm",
    "choice",
    "compile",
    "experiments",
    "find_scenario",
    "load",
    "number",
    "run",
    "sweep",
]

_HOMES = {
    "Network": "p4cc.api.network",
    "Result": "p4cc.api.result",
    "Snapshot": "p4cc.api.now",
    "compile": "p4cc.api.run",
    "load": "p4cc.api.result",
    "run": "p4cc.api.run",
    "sweep": "p4cc.api.run",
    "Controller": "p4cc.control.controller",
    "RateAlgorithm": "p4cc.user_algorithms.base",
    "ReceiverAlgorithm": "p4cc.user_algorithms.base",
    "SlowStart": "p4cc.user_algorithms.base",
    "WindowAlgorithm": "p4cc.user_algorithms.base",
    "check_algorithm": "p4cc.user_algorithms.check",
    "choice": "p4cc.user_algorithms.parameters",
    "number": "p4cc.user_algorithms.parameters",
    "Scenario": "p4cc.scenario.built",
    "UserError": "p4cc.errors",
    "experiments": "p4cc.bundled",
    "find_scenario": "p4cc.bundled",
}

__getattr__ = late_names("p4cc", _HOMES)
