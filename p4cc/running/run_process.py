"""A process that makes one run after the other for the process that started it (`process_runs`)."""

from __future__ import annotations

import asyncio
import os
import queue
import socket
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import IO, TYPE_CHECKING

from p4cc.errors import UserError
from p4cc.leftovers import Process
from p4cc.running.cached_run import SeedRun, write_run
from p4cc.running.message import LENGTH_BYTES, Answer, Bug, Failed, Made, Moved, length_of, message_of, packed_message
from p4cc.running.ordered_run import only_inputs, planned_again, run_planned
from p4cc.running.progress import Moment, Runs

if TYPE_CHECKING:
    from p4cc.running.remote_runs import RunOrder

_TOLD_S = 0.1
"""Interval between reports of progress."""


def main() -> None:
    """Makes runs until the other process closes the socket, given by its number like the file of finished runs."""
    # A call of Python code that never returns may end it: the process is p4cc's, whoever called.
    Process.is_ours = True
    channel, file = socket.socket(fileno=int(sys.argv[2])), os.fdopen(int(sys.argv[3]), "r+b")
    orders: queue.SimpleQueue[tuple[RunOrder, str]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(channel, orders), daemon=True).start()
    with file:
        while True:
            order, streams = orders.get()
            channel.sendall(packed_message(_answer(channel, file, order, Path(streams))))


def _receive(channel: socket.socket, orders: queue.SimpleQueue[tuple[RunOrder, str]]) -> None:
    """Passes orders on; ends the process with the other one, also amid a run."""
    with channel.makefile("rb") as received:
        while head := received.read(LENGTH_BYTES):
            orders.put(message_of(received.read(length_of(head))))
    os._exit(0)


def _answer(channel: socket.socket, file: IO[bytes], order: RunOrder, streams: Path) -> Answer:
    """Makes a run and writes it to the file."""
    try:
        return _made(channel, file, order, streams)
    except UserError as error:
        return Failed(error.cause, error.place, error.remedy)
    except OSError as error:
        cause = f"cannot write the run: {error.strerror}"
        return Failed(cause, str(error.filename or streams), "check that the disk has space left")
    except Exception:  # noqa: BLE001 - the other process raises it
        return Bug(traceback.format_exc())


def _made(channel: socket.socket, file: IO[bytes], order: RunOrder, streams: Path) -> Made:
    def keep(key: str, run: SeedRun) -> None:
        file.seek(0)
        file.truncate()
        write_run(file, key, run)
        file.flush()

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
