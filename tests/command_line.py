"""p4cc's command line for tests: each call is a process of its own, forked from one that has imported much of p4cc.

A start of Python imports for a second, and tests make several hundred. The process that is forked imports nothing
that starts a thread, since a fork takes one thread along, nor what reads the environment (matplotlib). Tests of the
start itself, of signals and of pipes start Python anew.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[1]
BARE = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
"""An environment with nothing of the caller's."""

_IMPORTED = [
    "grpc",
    "finsy",
    "p4cc.cli",
    "p4cc.commands.run",
    "p4cc.planning.programs",
    "p4cc.scenario.expand",
    "p4cc.scenario.load",
]
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(_IMPORTED)


def p4cc(
    *words: object,
    folder: Path = ROOT,
    env: Mapping[str, str] | None = None,
    timeout_s: float = 300,
    file_limit_bytes: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs `p4cc` to its end in a folder, with the caller's environment or one of its own."""
    texts = [str(word) for word in words]
    environment = dict(os.environ if env is None else env)
    with tempfile.TemporaryDirectory() as outputs:
        paths = [Path(outputs, name) for name in ("stdout", "stderr")]
        for path in paths:
            path.touch()
        named = [place for place in environment.get("PYTHONPATH", "").split(os.pathsep) if place]
        places = [str(folder), *named, *_ensure_server()]
        call = _processes.Process(target=_call, args=(texts, folder, environment, paths, file_limit_bytes, places))
        call.start()
        call.join(timeout_s)
        if call.exitcode is None:
            call.kill()
            call.join()
            raise subprocess.TimeoutExpired(["p4cc", *texts], timeout_s, *(path.read_bytes() for path in paths))
        out, err = (path.read_text(encoding="utf-8") for path in paths)
    return subprocess.CompletedProcess(["p4cc", *texts], call.exitcode, out, err)


@cache
def _ensure_server() -> list[str]:
    """Starts the process that is forked, and says where Python looks for modules before a test has imported any.

    numpy's library for matrices would start threads in that process, and Ray adds a place of its own.
    """
    before = os.environ.copy()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    forkserver.ensure_running()
    os.environ.clear()
    os.environ.update(before)
    asked = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"]
    bare = {key: value for key, value in before.items() if key != "PYTHONPATH"}
    return json.loads(subprocess.run(asked, env=bare, capture_output=True, text=True, check=True).stdout)


def _call(
    words: list[str],
    folder: Path,
    environment: dict[str, str],
    outputs: list[Path],
    file_limit_bytes: int | None,
    places: list[str],
) -> None:
    """The process of a call: takes over folder, environment and outputs, and runs the command line."""
    from p4cc.cli import main

    sys.path[:] = places
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    for number, path in enumerate(outputs, start=1):
        opened = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
    if file_limit_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit_bytes, file_limit_bytes))
    sys.argv = ["p4cc", *words]
    main()
