"""The engine's look at where threads are."""

from __future__ import annotations

import gc
import threading

from p4cc import _engine


def test_frames_come_innermost_first_and_the_collector_stays_on() -> None:
    reached, leave = threading.Event(), threading.Event()

    def outer() -> None:
        inner()

    def inner() -> None:
        reached.set()
        leave.wait()

    thread = threading.Thread(target=outer)
    thread.start()
    try:
        reached.wait()
        stack = _engine.thread_frames()[thread.ident or 0]
        names = [frame.f_code.co_name for frame in stack]
        own = [frame.f_code.co_name for frame in _engine.thread_frames()[threading.get_ident()]]
    finally:
        leave.set()
        thread.join()
    assert names.index("inner") < names.index("outer") < names.index("run")
    assert own[0] == test_frames_come_innermost_first_and_the_collector_stays_on.__name__
    assert gc.isenabled()


def test_the_collector_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        _engine.thread_frames()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_frames_that_come_and_go_do_not_end_the_process() -> None:
    over = threading.Event()

    def churn() -> None:
        def depth(left: int) -> int:
            return left and depth(left - 1)

        while not over.is_set():
            depth(60)
            list(map(depth, range(20)))

    threads = [threading.Thread(target=churn) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        deepest = max(max(map(len, _engine.thread_frames().values())) for _ in range(2_000))
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert deepest > 20
