"""A signal ends the switch while it compiles: at its start, and what a controller pushes."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

import grpc
from finsy.proto import U128

from tests.p4runtime.session import Set
from tests.switchd.namespaces import PATIENCE_S, switch_program, wait_for
from tests.switchd.soak import DEVICE, Client, many_tables, started

#: Compiling so many takes seconds.
TABLES = 4_000
#: When the compiler has begun for certain, and has not ended.
BEGUN_S = 0.3


def test_a_signal_during_the_start_does_not_wait_for_the_program(tmp_path: Path) -> None:
    program, log = tmp_path / "large.p4", tmp_path / "log"
    program.write_text(many_tables(TABLES))
    command = [switch_program(), str(program), "--log-file", str(log), "-L", "info"]
    process = subprocess.Popen([*command, "--", "--grpc-server-addr", "127.0.0.1:0"])
    try:
        wait_for(lambda: log.with_suffix(".txt").exists() or None, "the log")
        time.sleep(BEGUN_S)
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
        assert "program installed" not in log.with_suffix(".txt").read_text()
    finally:
        process.kill()
        process.wait()


def test_a_signal_during_a_push_does_not_wait_for_the_program() -> None:
    with started() as (address, switch):
        client = Client(address, 1)
        request = Set(device_id=DEVICE, action=Set.VERIFY_AND_COMMIT, role=client.role, election_id=U128.encode(1))
        request.config.p4info.SetInParent()
        request.config.p4_device_config = many_tables(TABLES).encode()
        failed: list[grpc.RpcError] = []

        def push() -> None:
            try:
                client.call("SetForwardingPipelineConfig", request)
            except grpc.RpcError as error:
                failed.append(error)

        pushing = threading.Thread(target=push)
        pushing.start()
        time.sleep(BEGUN_S)
        switch.terminate()
        assert switch.wait(PATIENCE_S) == 0
        pushing.join(PATIENCE_S)
        assert len(failed) == 1, "the program was not installed"
        client.close()
