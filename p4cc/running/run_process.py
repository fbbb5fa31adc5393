"""A process that makes one run after the other for the process that started it (`process_runs`)."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from p4cc.errors import UserError
from p4cc.leftovers import Process
from p4cc.running.cached_run import SeedRun, write_run
from p4cc.running.message import Answer, Bug, Failed, Made, Moved, next_message, packed_message
from p4cc.running.ordered_run import only_inputs, planned_again, run_planned
from p4cc.running.progress import Moment, Runs

if TYPE_CHECKING:
    import io

    from p4cc.running.remote_runs import RunOrder

_TOLD_S = 0.1
"""Interval between reports of progress."""


def main() -> None:
    """Makes runs until the other process closes the socket, given by its number like the file of finished runs."""
    # A call of Python code that never returns may end it: the process is p4cc's, whoever called.
    Process.is_ours = True
    if (out := cast("io.TextIOWrapper | None", sys.stdout)) is not None:
        # The process ends without flushing; whole lines keep those of several processes apart.
        out.reconfigure(line_buffering=True)
    channel, file = socket.socket(fileno=int(sys.argv[2])), os.fdopen(int(sys.argv[3]), "r+b")
    orders: queue.SimpleQueue[tuple[RunOrder, str]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(channel, orders), daemon=True).start()
    with file:
        while True:
            order, streams = orders.get()
            answer = packed_message(_answer(channel, file, order, Path(streams)))
            # Without the other process, `_receive` ends this one.
            with contextlib.suppress(ConnectionError):
                channel.sendall(answer)


def _receive(channel: socket.socket, orders: queue.SimpleQueue[tuple[RunOrder, str]]) -> None:
    """Passes orders on; ends the process and its group with the other one, also amid a run or an order."""
    try:
        with contextlib.suppress(ConnectionError), channel.makefile("rb") as received:
            while (order := next_message(received)) is not None:
                orders.put(order)
        os.killpg(os.getpid(), signal.SIGKILL)
    except Exception:  # noqa: BLE001 - in a thread, it would leave a process that waits for ever
        traceback.print_exc()
    finally:
        os._exit(1)


def _answer(channel: socket.socket, file: IO[bytes], order: RunOrder, streams: Path) -> Answer:
    """Makes a run and writes it to the file."""
    try:
        return _made(channel, file, order, streams)
    except UserError as error:
        return Failed(error.cause, error.place, error.remedy)
    except Exception as error:  # noqa: BLE001 - the other process raises it
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            # Of a table that is written during the run.
            unwritten = _unwritten(error, streams)
            return Failed(unwritten.cause, unwritten.place, unwritten.remedy)
        return Bug(traceback.format_exc())
    finally:
        with contextlib.suppress(OSError, ValueError):
            print(end="", flush=True)


def _unwritten(error: OSError, place: Path) -> UserError:
    cause = f"cannot write the run: {error.strerror or error}"
    return UserError(cause, place=str(error.filename or place), remedy="check that the disk has space left")


def _made(channel: socket.socket, file: IO[bytes], order: RunOrder, streams: Path) -> Made:
    def keep(key: str, run: SeedRun) -> None:
        try:
            file.seek(0)
            file.truncate()
            write_run(file, key, run)
            file.flush()
        except OSError as error:
            raise _unwritten(error, streams) from error

    with only_inputs(order.inputs):
        planned, keys = planned_again(order.study, order.variant, order.point)
        if keys.get(order.seed) != order.key:
            cause = "its files changed after the scenario was planned"
            raise UserError(cause, place=f"case {order.label}", remedy="run the same command again")
        made = asyncio.run(
            run_planned(
                order.study,
                planned,
                {order.seed: order.key},
                keep,
                progress=_Told(channel),
                purpose=order.label.removesuffix(planned.label(order.seed)),
                streams=streams,
            )
        )
    return Made(tuple(made.notes))


class _Told(Runs):
    """Reports progress to the other process."""

    def __init__(self, channel: socket.socket) -> None:
        super().__init__(1, lambda _: None)
        self._channel = channel
        self._told = 0.0

    def moved(self, label: str, moment: Moment) -> None:
        """Reports it, if the last report is old enough."""
        del label
        now = time.monotonic()
        if now - self._told >= _TOLD_S:
            self._told = now
            self._channel.sendall(packed_message(Moved(moment)))
