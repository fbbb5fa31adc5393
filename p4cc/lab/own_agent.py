"""A host's agent in a lab whose senders run algorithms in Python: `p4cc-agent run`, with the users' classes.

`python -m p4cc.lab.own_agent PLAN HOST ARGUMENTS` takes the rest as JSON. Exit codes are those of `p4cc-agent`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from p4cc import _engine
from p4cc.errors import UserError
from p4cc.user_algorithms.failed import failed
from p4cc.user_algorithms.load import load_offered, load_own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.user_algorithms.load import UserSender

INCOMPLETE = 1
CANNOT_START = 2


def own_command(plan: Path, host: str, own: Sequence[UserSender], arguments: dict[str, Any]) -> list[str]:
    """The words that start the agent; `arguments` are those of `_engine.run_agent`."""
    classes = [
        {
            "file": one.algorithm.file,
            "class": one.algorithm.kind.__name__,
            "kind": one.algorithm.entry.kind,
            "offered": one.algorithm.entry.name if one.algorithm.is_offered else None,
            "values": dict(one.values),
        }
        for one in own
    ]
    told = json.dumps({"own": classes, "arguments": arguments})
    return [sys.executable, "-m", "p4cc.lab.own_agent", str(plan), host, told]


def main(plan: str, host: str, told_json: str) -> int:
    """Runs the agent; what keeps it from starting, or ends it, goes to the standard error output."""
    told = json.loads(told_json)
    try:
        own = [_found(one, Path(plan)).for_engine() for one in told["own"]]
        done = _engine.run_agent(Path(plan).read_text(encoding="utf-8"), host, own, **told["arguments"])
    except _engine.AlgorithmError as error:
        print(f"p4cc agent: {failed(error, host)}", file=sys.stderr)
        return CANNOT_START
    except (_engine.ServerError, UserError, OSError) as error:
        print(f"p4cc agent: {error}", file=sys.stderr)
        return CANNOT_START
    return 0 if done else INCOMPLETE


def _found(one: dict[str, Any], plan: Path) -> UserSender:
    """A class by its description; raises UserError where it has gone."""
    if one["offered"] is not None:
        return load_offered(str(one["offered"]), str(one["kind"])).with_values(one["values"])
    return load_own(f"{one['file']}:{one['class']}", str(one["kind"]), plan).with_values(one["values"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
