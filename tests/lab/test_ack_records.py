"""Records of ACKs where `p4cc-hosts watch` fails or is killed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from p4cc.lab.ack_records import Watch
from tests.linux.kernel import COMMAND, senders, transfer
from tests.linux.test_loader import joined
from tests.switchd.namespaces import PATIENCE_S, lab, run

SIZE = 400_000


@contextmanager
def watched(folder: Path, file: Path) -> Generator[Watch]:
    """A watch over a transfer that has ended."""
    with senders() as it, lab(folder) as net:
        ends = joined(net)
        try:
            name = it.load("dctcp", "--sender", "dctcp", "--watch")
            watch = Watch([str(COMMAND), "--pins", str(it.pins)], file, "test")
            try:
                transfer(it, name, ends, SIZE)
                yield watch
            finally:
                watch.end()
        finally:
            run("ip", "link", "del", ends[0].port_interface + "b")


def test_a_watch_that_ends_as_asked_has_no_remark(tmp_path: Path) -> None:
    with watched(tmp_path, tmp_path / "records") as watch:
        found = watch.read(None, 0)
    assert found.remarks == ()
    assert found.rows[-1]["acked_bytes"] >= SIZE


def test_a_killed_watch_is_told_and_its_cut_line_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "records"
    with watched(tmp_path, file) as watch:
        until = time.monotonic() + PATIENCE_S
        while not file.stat().st_size and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(watch.process.pid, signal.SIGKILL)
        watch.process.wait()
        whole = file.read_text().rpartition("\n")[0].splitlines()
        # A write that was cut in the middle of a line.
        file.write_text("\n".join(whole)[:-20])
        found = watch.read(None, 0)
    assert found.remarks == ("records of ACKs may be missing: p4cc-hosts watch was ended by SIGKILL",)
    assert 0 < len(found.rows) == len(whole) - 1


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    with watched(tmp_path, Path("/dev/full")) as watch:
        (remark,) = watch.end()
    assert "may be missing" in remark
    assert "No space left on device" in remark


def test_a_watch_that_hangs_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("p4cc.lab.ack_records._PATIENCE_S", 0.2)
    with watched(tmp_path, tmp_path / "records") as watch:
        os.kill(watch.process.pid, signal.SIGSTOP)
        found = watch.read(None, 0)
    assert found.remarks == ("records of ACKs may be missing: p4cc-hosts watch did not end in 0.2 s",)
