"""BMv2's Thrift calls, as p4-utils and simple_switch_CLI make them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from finsy.proto import p4r

from tests.p4runtime.session import connected
from tests.switchd.namespaces import (
    PATIENCE_S,
    ROOT,
    Switch,
    both_ways,
    lab,
    listening,
    switch_program,
    wait_for,
)
from tests.switchd.thrift_client import (
    BOOL,
    DOUBLE,
    I16,
    STRING,
    STRUCT,
    Client,
    FailedError,
    RefusedError,
    i32,
    i64,
    items,
    structure,
    text,
)

PROGRAM = ROOT / "tests/p4runtime/everything.p4"
CONTEXT = i32(0)
DUPLICATE_ENTRY, INVALID_HANDLE, BAD_MATCH_KEY, INVALID_TABLE_NAME, IMMUTABLE = 17, 2, 18, 7, 25


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def connect(port: int, service: str = "standard") -> Client | None:
    with contextlib.suppress(ConnectionRefusedError):
        return Client(port, service)
    return None


@pytest.fixture(scope="module")
def port() -> Generator[int]:
    """The Thrift port of a switch without interfaces that runs `everything.p4`."""
    port = free_port()
    command = [switch_program(), str(PROGRAM), "--device-id", "5", "--thrift-port", str(port)]
    process = subprocess.Popen([*command, "--", "--grpc-server-addr", "127.0.0.1:0", "--cpu-port", "510"])
    with wait_for(lambda: connect(port), "Thrift to answer"):
        pass
    yield port
    process.terminate()
    assert process.wait(PATIENCE_S) == 0


@pytest.fixture
def standard(port: int) -> Generator[Client]:
    with Client(port) as client:
        client.call("bm_reset_state")
        yield client


def exact(value: bytes) -> dict[int, tuple[int, Any]]:
    return {1: i32(0), 2: structure({1: text(value)})}


def no_options() -> tuple[int, Any]:
    return structure({})


def key(address: bytes, kind: bytes) -> tuple[int, Any]:
    return items(STRUCT, [exact(address), exact(kind)])


def data(*values: bytes) -> tuple[int, Any]:
    return items(STRING, list(values))


def add(client: Client, address: bytes, port: bytes) -> int:
    table, action = text("ingress.exact_match"), text("ingress.forward")
    return client.call("bm_mt_add_entry", CONTEXT, table, key(address, b"\x01"), action, data(port), no_options())


ADDRESS = b"\x0a\x00\x00\x01"


def test_an_entry_from_its_addition_to_its_end(standard: Client) -> None:
    table = text("ingress.exact_match")
    handle = add(standard, ADDRESS, b"\x00\x03")
    assert standard.call("bm_mt_get_num_entries", CONTEXT, table) == 1
    (entry,) = standard.call("bm_mt_get_entries", CONTEXT, table)
    assert entry[1] == [{1: 0, 2: {1: ADDRESS}}, {1: 0, 2: {1: b"\x01"}}]
    assert entry[3] == handle
    assert entry[4] == {1: 1, 2: b"ingress.forward", 3: [b"\x03"]}
    assert standard.call("bm_mt_get_entry_from_key", CONTEXT, table, key(ADDRESS, b"\x01"), no_options()) == entry
    with pytest.raises(RefusedError) as refused:
        add(standard, ADDRESS, b"\x04")
    assert refused.value.code == DUPLICATE_ENTRY
    # A name that is unique may be short, a value may leave out zeros.
    standard.call("bm_mt_modify_entry", CONTEXT, table, i32(handle), text("forward"), data(b"\x07"))
    assert standard.call("bm_mt_get_entry", CONTEXT, table, i32(handle))[4][3] == [b"\x07"]
    standard.call("bm_mt_delete_entry", CONTEXT, table, i32(handle))
    with pytest.raises(RefusedError) as refused:
        standard.call("bm_mt_delete_entry", CONTEXT, table, i32(handle))
    assert refused.value.code == INVALID_HANDLE


def test_of_two_priorities_the_lower_number_is_given_back(standard: Client) -> None:
    table = text("ingress.acl")
    match = [
        {1: i32(2), 4: structure({1: text(b"\x0a\x01\x02\x03"), 2: text(b"\xff\xff\x00\x00")})},
        {1: i32(4), 6: structure({1: text(b"\x00\x05"), 2: text(b"\x00\x09")})},
        {1: i32(2), 4: structure({1: text(b"\x00\x00"), 2: text(b"\x00\x00")})},
    ]
    for priority in (10, 20):
        options = structure({1: i32(priority)})
        standard.call("bm_mt_add_entry", CONTEXT, table, items(STRUCT, match), text("ingress.report"), data(), options)
    entries = standard.call("bm_mt_get_entries", CONTEXT, table)
    assert sorted(entry[2][1] for entry in entries) == [10, 20]
    assert entries[0][1][0] == {1: 2, 4: {1: b"\x0a\x01\x00\x00", 2: b"\xff\xff\x00\x00"}}
    assert entries[0][1][1] == {1: 4, 6: {1: b"\x00\x05", 2: b"\x00\x09"}}
    handle = entries[0][3]
    written = structure({1: i64(300), 2: i64(2)})
    standard.call("bm_mt_write_counter", CONTEXT, table, i32(handle), written)
    assert standard.call("bm_mt_read_counter", CONTEXT, table, i32(handle)) == {1: 300, 2: 2}
    standard.call("bm_mt_reset_counters", CONTEXT, table)
    assert standard.call("bm_mt_read_counter", CONTEXT, table, i32(handle)) == {1: 0, 2: 0}
    standard.call("bm_mt_clear_entries", CONTEXT, table, (BOOL, True))
    assert standard.call("bm_mt_get_num_entries", CONTEXT, table) == 0


def test_what_is_wrong_has_bmv2s_code(standard: Client) -> None:
    for name, code, values in [
        ("ingress.nothing", INVALID_TABLE_NAME, key(ADDRESS, b"\x01")),
        ("ingress.exact_match", BAD_MATCH_KEY, items(STRUCT, [exact(ADDRESS)])),
        ("ingress.exact_match", BAD_MATCH_KEY, key(b"\x01" + ADDRESS, b"\x01")),
        ("ingress.fixed", IMMUTABLE, items(STRUCT, [exact(b"\x09")])),
    ]:
        with pytest.raises(RefusedError) as refused:
            standard.call("bm_mt_add_entry", CONTEXT, text(name), values, text("forward"), data(b"\x01"), no_options())
        assert refused.value.code == code, name
    with pytest.raises(FailedError, match="bm_frobnicate"):
        standard.call("bm_frobnicate", CONTEXT)
    with pytest.raises(FailedError, match="argument 2"):
        standard.call("bm_mt_get_num_entries", CONTEXT)


def test_defaults_are_set_and_reset(standard: Client) -> None:
    table = text("ingress.keyless")
    standard.call("bm_mt_set_default_action", CONTEXT, table, text("ingress.forward"), data(b"\x01\x01"))
    assert standard.call("bm_mt_get_default_entry", CONTEXT, table)[3] == [b"\x01\x01"]
    standard.call("bm_mt_reset_default_entry", CONTEXT, table)
    assert standard.call("bm_mt_get_default_entry", CONTEXT, table)[3] == [b"\x03"]


def test_members_and_groups(standard: Client) -> None:
    profile, table = text("ingress.ecmp"), text("ingress.routes")
    members = [
        standard.call("bm_mt_act_prof_add_member", CONTEXT, profile, text("forward"), data(bytes([port])))
        for port in (1, 2)
    ]
    assert members == [0, 1]
    group = standard.call("bm_mt_act_prof_create_group", CONTEXT, profile)
    for member in members:
        standard.call("bm_mt_act_prof_add_member_to_group", CONTEXT, profile, i32(member), i32(group))
    assert standard.call("bm_mt_act_prof_get_group", CONTEXT, profile, i32(group)) == {1: group, 2: members}
    lpm = items(STRUCT, [{1: i32(1), 3: structure({1: text(ADDRESS), 2: i32(24)})}])
    handle = standard.call("bm_mt_indirect_ws_add_entry", CONTEXT, table, lpm, i32(group), no_options())
    (entry,) = standard.call("bm_mt_get_entries", CONTEXT, table)
    assert entry[1] == [{1: 1, 3: {1: b"\x0a\x00\x00\x00", 2: 24}}]
    assert entry[4] == {1: 3, 5: group}
    standard.call("bm_mt_indirect_modify_entry", CONTEXT, table, i32(handle), i32(1))
    assert standard.call("bm_mt_get_entry", CONTEXT, table, i32(handle))[4] == {1: 2, 4: 1}
    standard.call("bm_mt_act_prof_remove_member_from_group", CONTEXT, profile, i32(0), i32(group))
    standard.call("bm_mt_act_prof_delete_member", CONTEXT, profile, i32(0))
    assert [one[1] for one in standard.call("bm_mt_act_prof_get_members", CONTEXT, profile)] == [1]


def test_counters_registers_and_meters(standard: Client) -> None:
    totals, cells, rates = text("ingress.totals"), text("ingress.cells"), text("ingress.rates")
    standard.call("bm_counter_write", CONTEXT, totals, i32(3), structure({1: i64(64), 2: i64(1)}))
    assert standard.call("bm_counter_read", CONTEXT, totals, i32(3)) == {1: 64, 2: 1}
    standard.call("bm_counter_reset_all", CONTEXT, totals)
    assert standard.call("bm_counter_read", CONTEXT, totals, i32(3)) == {1: 0, 2: 0}
    standard.call("bm_register_write_range", CONTEXT, cells, i32(2), i32(4), i64(9))
    assert standard.call("bm_register_read_all", CONTEXT, cells)[:5] == [0, 0, 9, 9, 0]
    assert standard.call("bm_register_read", CONTEXT, cells, i32(2)) == 9
    for index, value in [(16, 1), (0, 1 << 32)]:
        with pytest.raises(RefusedError):
            standard.call("bm_register_write", CONTEXT, cells, i32(index), i64(value))
    standard.call("bm_register_reset", CONTEXT, cells)
    assert set(standard.call("bm_register_read_all", CONTEXT, cells)) == {0}
    given = items(STRUCT, [{1: (DOUBLE, 0.5), 2: i32(1500)}, {1: (DOUBLE, 2.0), 2: i32(3000)}])
    standard.call("bm_meter_set_rates", CONTEXT, rates, i32(1), given)
    assert standard.call("bm_meter_get_rates", CONTEXT, rates, i32(1)) == [{1: 0.5, 2: 1500}, {1: 2.0, 2: 3000}]
    assert standard.call("bm_meter_get_rates", CONTEXT, rates, i32(0)) == []


def test_multicast_follows_nodes_and_lags(port: int) -> None:
    with Client(port, "simple_pre_lag") as pre, Client(port, "simple_switch") as switch:
        group = pre.call("bm_mc_mgrp_create", CONTEXT, i32(7))
        # Ports 0 and 2, LAG 1.
        node = pre.call("bm_mc_node_create", CONTEXT, i32(5), text("101"), text("10"))
        pre.call("bm_mc_node_associate", CONTEXT, i32(group), i32(node))
        pre.call("bm_mc_set_lag_membership", CONTEXT, (I16, 1), text("11000"))
        entries = json.loads(pre.call("bm_mc_get_entries", CONTEXT))
        assert entries["mgrps"] == [{"id": 7, "l1_handles": [node]}]
        assert entries["l2_handles"] == [{"handle": node, "ports": [0, 2], "lags": [1]}]
        assert entries["lags"] == [{"id": 1, "ports": [3, 4]}]
        # A session follows its group, which may come later.
        for followed in (7, 8):
            switch.call("mirroring_session_add", i32(9), structure({2: i32(followed)}))
            assert switch.call("mirroring_session_get", i32(9)) == {2: followed}
        switch.call("mirroring_session_add", i32(9), structure({1: i32(4)}))
        assert switch.call("mirroring_session_get", i32(9)) == {1: 4}
        switch.call("mirroring_session_delete", i32(9))
        with pytest.raises(RefusedError):
            switch.call("mirroring_session_get", i32(9))
        pre.call("bm_mc_mgrp_destroy", CONTEXT, i32(group))
        with pytest.raises(RefusedError):
            pre.call("bm_mc_node_associate", CONTEXT, i32(group), i32(node))


def test_the_program_is_given_back_and_can_be_swapped(standard: Client) -> None:
    config = standard.call("bm_get_config")
    assert b"exact_match" in config
    # What BMv2 calls a checksum of the config.
    assert standard.call("bm_get_config_md5") == hashlib.md5(config, usedforsecurity=False).digest()
    info = standard.call("bm_mgmt_get_info")
    assert info[1] == 5
    add(standard, ADDRESS, b"\x03")
    standard.call("bm_load_new_config", text("no program"))
    with pytest.raises(RefusedError):
        standard.call("bm_swap_configs")
    assert standard.call("bm_mt_get_num_entries", CONTEXT, text("ingress.exact_match")) == 1
    standard.call("bm_load_new_config", text(config))
    standard.call("bm_swap_configs")
    assert standard.call("bm_mt_get_num_entries", CONTEXT, text("ingress.exact_match")) == 0


def test_rubbish_ends_only_its_own_connection(standard: Client, port: int) -> None:
    for rubbish in (b"GET / HTTP/1.0\r\n\r\n", b"\x80\x01\x00\x01\x7f\xff\xff\xff", b"\x00" * 64):
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as other:
            other.sendall(rubbish)
            other.shutdown(socket.SHUT_WR)
            assert other.recv(100) == b""
    assert standard.call("bm_mt_get_num_entries", CONTEXT, text("ingress.exact_match")) == 0


def test_idle_connections_shut_nobody_out(port: int) -> None:
    with contextlib.ExitStack() as stack:
        # Half a message is as idle as none.
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE_S)) for _ in range(70)]
        for one in idle[:10]:
            with contextlib.suppress(OSError):
                one.send(b"\x80\x01")
        with wait_for(lambda: connect(port), "Thrift to answer") as last:
            assert last.call("bm_mgmt_get_info")[1] == 5
        assert idle[0].recv(1) == b"", "the one that was idle for longest has ended"
    with Client(port) as after:
        assert after.call("bm_mgmt_get_info")[1] == 5


@pytest.fixture
def both_servers(tmp_path: Path) -> Generator[tuple[str, int]]:
    """P4Runtime's address and Thrift's port of a switch that runs `everything.p4`."""
    port, log = free_port(), tmp_path / "log"
    command = [switch_program(), str(PROGRAM), "--thrift-port", str(port), "--log-file", str(log), "-L", "info"]
    process = subprocess.Popen([*command, "--", "--grpc-server-addr", "127.0.0.1:0"], text=True)
    switch = Switch(process, "", log.with_suffix(".txt"))
    try:
        address = wait_for(lambda: listening(switch, "P4Runtime server listening on "), "the switch")
        wait_for(lambda: "switch runs" in switch.log.read_text(), "the switch to run")
        yield address, port
        assert switch.stop() == 0
    finally:
        process.kill()
        process.wait()


async def test_groups_made_over_p4runtime_are_dumped_and_can_be_changed(both_servers: tuple[str, int]) -> None:
    address, port = both_servers
    replicas = [p4r.Replica(port=bytes([one]), instance=rid) for one, rid in ((1, 5), (2, 5), (3, 6))]
    entry = p4r.MulticastGroupEntry(multicast_group_id=7, replicas=replicas)
    group = p4r.PacketReplicationEngineEntry(multicast_group_entry=entry)
    entity = p4r.Entity(packet_replication_engine_entry=group)
    async with connected(address, device=0) as controller:
        assert await controller.arbitrate(1) == 0
        await controller.insert(entity)
        with Client(port, "simple_pre_lag") as pre:
            entries = json.loads(pre.call("bm_mc_get_entries", CONTEXT))
            assert entries["mgrps"] == [{"id": 7, "l1_handles": [0, 1]}]
            assert entries["l1_handles"] == [{"handle": n, "rid": 5 + n, "l2_handle": n} for n in (0, 1)]
            assert [node["ports"] for node in entries["l2_handles"]] == [[1, 2], [3]]
            pre.call("bm_mc_node_dissociate", CONTEXT, i32(7), i32(1))
        (read,) = await controller.read(entity)
        left = read.packet_replication_engine_entry.multicast_group_entry.replicas
        assert [one.instance for one in left] == [5, 5]


@both_ways
def test_ports_come_and_go_and_queues_are_set(tmp_path: Path) -> None:
    port = free_port()
    with lab(tmp_path) as it:
        it.switch("--no-p4", "--thrift-port", str(port))
        with Client(port) as standard, Client(port, "simple_switch") as switch, Client(port, "p4cc") as own:
            first = standard.call("bm_dev_mgr_show_ports")[0]
            assert (first[1], first[2]) == (1, it.hosts[0].port_interface.encode())
            standard.call("bm_dev_mgr_remove_port", i32(1))
            assert switch.call("set_egress_queue_depth", i32(1), i32(10)) == 1, "the port is gone"
            with pytest.raises(RefusedError):
                standard.call("bm_dev_mgr_add_port", text("nosuch0"), i32(1), text(""))
            standard.call("bm_dev_mgr_add_port", text(it.hosts[0].port_interface), i32(1), text(""))
            assert sorted(one[1] for one in standard.call("bm_dev_mgr_show_ports")) == [1, 2]
            assert switch.call("set_egress_queue_depth", i32(1), i32(10)) == 0
            assert switch.call("set_egress_priority_queue_rate", i32(1), i32(7), i64(100)) == 0
            assert switch.call("set_all_egress_queue_rates", i64(0)) == 0
            assert own.call("set_port_rate_bps", i32(2), i64(10**6)) == 0
            assert own.call("get_port_counters", i32(2))[b"dropped_queue_full"] == 0
            assert switch.call("get_time_elapsed_us") > 0


def ask(port: int, *words: str) -> str:
    """What `p4cc-switch-cli` answers."""
    command = [switch_program("p4cc-switch-cli"), "--thrift-port", str(port), *words]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_command_line_shows_and_sets(standard: Client, port: int) -> None:
    add(standard, ADDRESS, b"\x03")
    shown = ask(port, "table_dump", "exact_match")
    assert "* data.address        : EXACT     0a000001\n" in shown
    assert "Action entry: ingress.forward - 03\n" in shown
    assert ask(port, "table_num_entries", "exact_match") == "1"
    ask(port, "register_write", "cells", "3", "17")
    assert ask(port, "register_read", "cells", "3") == "cells[3]= 17"
    assert ask(port, "register_read", "cells").startswith("cells= 0, 0, 0, 17, 0, ")
    assert ask(port, "counter_read", "totals", "1") == "totals[1]= (0 bytes, 0 packets)"
    ask(port, "mirroring_add", "4", "6")
    assert ask(port, "mirroring_get", "4") == "MirroringSessionConfig(port=6, mgid=None)"
    script = "# a comment\nset_queue_depth 30\nset_queue_rate 100\nswitch_info\n"
    command = [switch_program("p4cc-switch-cli"), "--thrift-port", str(port)]
    done = subprocess.run(command, check=False, input=script, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0
    values = [line.split(": ")[1] for line in done.stdout.splitlines()]
    assert values == ["5", str(port), "ipc:///tmp/bmv2-5-notifications.ipc", "None", "None"]
    for words, code, said in [
        (["table_dump", "nothing"], 1, "Invalid table name (nothing)"),
        (["set_queue_rate_bps", "1000", "9"], 1, "no such port"),
        (["frobnicate"], 1, "Unknown syntax"),
    ]:
        done = subprocess.run([*command, *words], check=False, capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == code
        assert said in done.stderr
