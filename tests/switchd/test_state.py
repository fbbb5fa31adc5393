"""State that outlives a switch: written over Thrift, read at the next start."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.switchd.namespaces import PATIENCE_S, ROOT, switch_program, wait_for
from tests.switchd.test_thrift import ADDRESS, CONTEXT, add, connect, data, free_port, no_options
from tests.switchd.thrift_client import DOUBLE, STRUCT, Client, i32, i64, items, structure, text

PROGRAM = ROOT / "tests/p4runtime/everything.p4"
OTHER = ROOT / "tests/lab/p4utils/features.p4"


def command(program: Path, port: int, *more: str) -> list[str]:
    own = [switch_program(), str(program), "--device-id", "6", "--thrift-port", str(port), *more]
    return [*own, "--", "--grpc-server-addr", "127.0.0.1:0"]


@contextmanager
def switch(*more: str) -> Generator[int]:
    port = free_port()
    process = subprocess.Popen(command(PROGRAM, port, *more))
    try:
        with wait_for(lambda: connect(port), "Thrift to answer"):
            yield port
    finally:
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


def fill(port: int) -> None:
    """Something of every kind."""
    with Client(port) as standard, Client(port, "simple_pre_lag") as pre, Client(port, "simple_switch") as own:
        add(standard, ADDRESS, b"\x00\x03")
        profile = text("ingress.ecmp")
        first, second = (
            standard.call("bm_mt_act_prof_add_member", CONTEXT, profile, text("forward"), data(bytes([out])))
            for out in (1, 2)
        )
        standard.call("bm_mt_act_prof_delete_member", CONTEXT, profile, i32(first))
        group = standard.call("bm_mt_act_prof_create_group", CONTEXT, profile)
        standard.call("bm_mt_act_prof_add_member_to_group", CONTEXT, profile, i32(second), i32(group))
        lpm = items(STRUCT, [{1: i32(1), 3: structure({1: text(ADDRESS), 2: i32(24)})}])
        standard.call("bm_mt_indirect_ws_add_entry", CONTEXT, text("ingress.routes"), lpm, i32(group), no_options())
        anything = [
            {1: i32(2), 4: structure({1: text(ADDRESS), 2: text(b"\xff\xff\xff\x00")})},
            {1: i32(4), 6: structure({1: text(bytes(2)), 2: text(b"\x00\x09")})},
            {1: i32(2), 4: structure({1: text(bytes(2)), 2: text(bytes(2))})},
        ]
        acl, action, options = text("ingress.acl"), text("ingress.report"), structure({1: i32(20)})
        handle = standard.call("bm_mt_add_entry", CONTEXT, acl, items(STRUCT, anything), action, data(), options)
        written = structure({1: i64(300), 2: i64(2)})
        standard.call("bm_mt_write_counter", CONTEXT, acl, i32(handle), written)
        keyless = text("ingress.keyless")
        standard.call("bm_mt_set_default_action", CONTEXT, keyless, text("ingress.forward"), data(b"\x01\x01"))
        standard.call("bm_register_write", CONTEXT, text("ingress.cells"), i32(3), i64(77))
        standard.call("bm_counter_write", CONTEXT, text("ingress.totals"), i32(3), written)
        rates = items(STRUCT, [{1: (DOUBLE, 0.5), 2: i32(1500)}, {1: (DOUBLE, 2.0), 2: i32(3000)}])
        standard.call("bm_meter_set_rates", CONTEXT, text("ingress.rates"), i32(1), rates)
        pre.call("bm_mc_mgrp_create", CONTEXT, i32(7))
        node = pre.call("bm_mc_node_create", CONTEXT, i32(5), text("101"), text(""))
        pre.call("bm_mc_node_associate", CONTEXT, i32(7), i32(node))
        own.call("mirroring_session_add", i32(9), structure({1: i32(4)}))


def held(port: int) -> list[object]:
    """What a switch holds of it."""
    with Client(port) as standard, Client(port, "simple_switch") as own:
        tables = ["exact_match", "routes", "acl", "fixed"]
        entries = [standard.call("bm_mt_get_entries", CONTEXT, text(f"ingress.{table}")) for table in tables]
        return [
            *entries,
            standard.call("bm_mt_read_counter", CONTEXT, text("ingress.acl"), i32(0)),
            standard.call("bm_mt_get_default_entry", CONTEXT, text("ingress.keyless")),
            standard.call("bm_mt_act_prof_get_members", CONTEXT, text("ingress.ecmp")),
            standard.call("bm_mt_act_prof_get_groups", CONTEXT, text("ingress.ecmp")),
            standard.call("bm_register_read_all", CONTEXT, text("ingress.cells")),
            standard.call("bm_counter_read", CONTEXT, text("ingress.totals"), i32(3)),
            standard.call("bm_meter_get_rates", CONTEXT, text("ingress.rates"), i32(1)),
            own.call("mirroring_session_get", i32(9)),
        ]


def test_a_switch_starts_with_the_state_of_another(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with switch() as port:
        fill(port)
        before = held(port)
        with Client(port) as standard:
            path.write_bytes(standard.call("bm_serialize_state"))
    with switch("--restore-state", str(path)) as port:
        assert held(port) == before
        with Client(port) as standard:
            assert standard.call("bm_serialize_state") == path.read_bytes(), "the multicast group is there too"


def test_a_state_that_does_not_fit_is_said(tmp_path: Path) -> None:
    path = tmp_path / "state"
    with switch() as port, Client(port) as standard:
        path.write_bytes(standard.call("bm_serialize_state"))
    rubbish = tmp_path / "rubbish"
    rubbish.write_text("06062016_0\n")
    for program, file, words in [
        (OTHER, path, "another program"),
        (PROGRAM, rubbish, "serialize_state"),
        (PROGRAM, tmp_path / "nothing", "No such file"),
    ]:
        start = command(program, free_port(), "--restore-state", str(file))
        done = subprocess.run(start, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
