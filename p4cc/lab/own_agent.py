"""A host's agent in a lab whose senders run algorithms in Python: `p4cc-agent run`, with the users' classes.

`python -m p4cc.lab.own_agent PLAN HOST ARGUMENTS` takes the rest as JSON. Exit codes are those of `p4cc-agent`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from p4cc import _engine
from p4cc.errors import UserError
from p4cc.user_algorithms.failed import failed
from p4cc.user_algorithms.load import load_offered, load_own

if TYPE_CHECKING:
    from collections.abc import Sequence

    from p4cc.json_data import JsonObject
    from p4cc.user_algorithms.load import UserSender

INCOMPLETE = 1
CANNOT_START = 2


def own_command(plan: Path, host: str, own: Sequence[UserSender], arguments: JsonObject) -> list[str]:
    """The words that start the agent; `arguments` are those of `_engine.run_agent`."""
    classes = [
        {
            "file": one.algorithm.file,
            "class_name": one.algorithm.kind.__name__,
            "kind": one.algorithm.entry.kind,
            "offered": one.algorithm.entry.name if one.algorithm.is_offered else None,
            "values": dict(one.values),
        }
        for one in own
    ]
    task = json.dumps({"own": classes, "arguments": arguments})
    return [sys.executable, "-m", "p4cc.lab.own_agent", str(plan), host, task]


def main(plan: str, host: str, task_json: str) -> int:
    """Runs the agent; errors go to the standard error output."""
    task = json.loads(task_json)
    try:
        own = [_load(plan=Path(plan), **spec).for_engine() for spec in task["own"]]
        done = _engine.run_agent(Path(plan).read_text(encoding="utf-8"), host, own, **task["arguments"])
    except _engine.AlgorithmError as error:
        print(f"p4cc agent: {failed(error, host)}", file=sys.stderr)
        return CANNOT_START
    except (_engine.ServerError, UserError, OSError) as error:
        print(f"p4cc agent: {error}", file=sys.stderr)
        return CANNOT_START
    return 0 if done else INCOMPLETE


def _load(file: str, class_name: str, kind: str, offered: str | None, values: JsonObject, plan: Path) -> UserSender:
    """A class by its description; raises UserError where it does not exist any more."""
    own = load_own(f"{file}:{class_name}", kind, plan) if offered is None else load_offered(offered, kind)
    return own.with_values(values)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
