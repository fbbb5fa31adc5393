"""The controller over BF Runtime with `p4cc-switch`: what it writes and leaves, and what P4Runtime says of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from finsy.proto import p4r
from typer.testing import CliRunner, Result

from controller import Profile, SwitchError
from controller.bfrt.client import BfrtServer, Session, running_program
from controller.bfrt.program import Program
from controller.cli import app
from controller.client import connect
from controller.entities import (
    ActionCall,
    CloneKey,
    CloneSession,
    Entry,
    EntryKey,
    Exact,
    Group,
    Member,
    Range,
    Update,
    UpdateKind,
)
from controller.errors import ControllerError, PlanError
from controller.install import diff_network, install_network, read_ports
from controller.plan import SwitchPlan, level_cells
from tests.controller import own_program as program
from tests.controller.bfrt_switch import CELL_BYTES, Device, device, pipeline, plans, plans_of
from tests.switchd.namespaces import ROOT

SHAPE = ["--topology", "leaf_spine", "--set", "leaves=2", "--set", "spines=2", "--set", "hosts_per_leaf=2"]


@pytest.fixture
def ecn_dual(tmp_path: Path) -> Iterator[Device]:
    with device(tmp_path, "ecn_dual") as it:
        yield it


async def running(it: Device) -> tuple[Program, list[SwitchPlan]]:
    found = await running_program(it.bfrt, it.name, "leaf1")
    return found, list(plans(found.roles))


@pytest.mark.parametrize("name", ["ecn_dual", "ecn_red", "int_hpcc"])
async def test_one_plan_by_both_protocols_is_one_state(tmp_path: Path, name: str) -> None:
    known = pipeline(name)
    for first in ("bfrt", "p4runtime"):
        folder = tmp_path / first
        folder.mkdir()
        with device(folder, name) as it:
            wanted = list(plans_of(known))
            async with connect(it.p4runtime.target(wanted[0])) as session:
                # A program that P4Runtime has not seen would be pushed, which empties all tables.
                await session.become_primary()
                assert await session.ensure_pipeline(known)
            found, same = await running(it)
            assert wanted == same, "both say what the program has"
            if first == "bfrt":
                (report,) = await install_network(it.bfrt, found, wanted)
                (other,) = await install_network(it.p4runtime, known, wanted)
            else:
                (report,) = await install_network(it.p4runtime, known, wanted)
                (other,) = await install_network(it.bfrt, found, wanted)
            assert report.updates_written == len(wanted[0].entities)
            assert other.updates_written == 0
            target = it.bfrt.target(wanted[0])
            async with it.bfrt.line() as line, line.session(target) as ours:
                by_bfrt = await ours.read(wanted[0].scope, found)
            async with connect(it.p4runtime.target(wanted[0])) as theirs:
                by_p4runtime = await theirs.read(wanted[0].scope, known)
            assert set(by_bfrt) == set(by_p4runtime) == set(wanted[0].entities)
            kinds = {type(entity) for entity in by_bfrt}
            assert kinds == {Member, Group, Entry}
    has_ranges = any(isinstance(m, Range) for e in by_bfrt if isinstance(e, Entry) for m in e.key.match)
    assert has_ranges == (name == "ecn_red")


async def test_only_what_differs_is_written(ecn_dual: Device) -> None:
    found, wanted = await running(ecn_dual)
    server = ecn_dual.bfrt
    (before,) = await diff_network(server, found, wanted)
    assert not before.pipeline_differs
    (first,) = await install_network(server, found, wanted)
    assert first.updates_written == len(before.updates) > 0
    (again,) = await install_network(server, found, wanted)
    assert again.updates_written == 0
    other = plans(found.roles, k_pkts=25)
    (changed,) = await install_network(server, found, other)
    assert changed.updates_written == len(wanted[0].ports)
    (left,) = await diff_network(server, found, other)
    assert left.updates == ()
    profile = plans(found.roles, k_pkts=25, profile=Profile.RFC3168)
    (fewer,) = await install_network(server, found, profile)
    assert fewer.updates_written > 0
    (left,) = await diff_network(server, found, profile)
    assert left.updates == ()


async def test_counts_and_thresholds_of_ports_are_those_of_p4runtime(ecn_dual: Device) -> None:
    found, wanted = await running(ecn_dual)
    known = pipeline("ecn_dual")
    await install_network(ecn_dual.bfrt, found, wanted)
    cells = list(level_cells(wanted[0].ports))
    counter_id = known.schema.counters[program.LEVEL_PACKETS].id
    async with connect(ecn_dual.p4runtime.target(wanted[0])) as session:
        await session.become_primary()
        data = [p4r.CounterEntry(counter_id=counter_id, index=p4r.Index(index=cell)) for cell in cells]
        for entry in data:
            entry.data.packet_count = 1000 + entry.index.index
        entities = [p4r.Entity(counter_entry=entry) for entry in data]
        await session.write_messages([p4r.Update(type=p4r.Update.MODIFY, entity=entity) for entity in entities])
    ours = await read_ports(ecn_dual.bfrt, found, wanted)
    assert ours == await read_ports(ecn_dual.p4runtime, known, wanted)
    assert [(port.k_pkts, port.k_dc_pkts) for port in ours] == [(33, 65)] * len(wanted[0].ports)
    assert ours[0].level1_pkts == 1000 + 4 * ours[0].port + 1


async def test_the_filter_of_ecn_wred_gets_curves(tmp_path: Path) -> None:
    with device(tmp_path, "ecn_wred") as it:
        found, wanted = await running(it)
        cells = [one for one in wanted[0].entities if isinstance(one, Entry) and one.key.table == program.WRED]
        assert [cell.key.match for cell in cells] == [(Exact(program.WRED_KEY, port),) for port in wanted[0].ports]
        # 100 and 400 KB for each 25 Gb/s, and 20 %; the links have 10 Gb/s.
        args = (("high", 160_000 // CELL_BYTES), ("low", 40_000 // CELL_BYTES), ("p_max", 200_000))
        assert cells[0].action == ActionCall(program.SET_WRED, args)
        (first,) = await install_network(it.bfrt, found, wanted)
        assert first.updates_written == len(wanted[0].entities)
        (again,) = await install_network(it.bfrt, found, wanted)
        assert again.updates_written == 0
        # A cell of a port that the plan knows not is one that another client set.
        target = it.bfrt.target(wanted[0])
        stray = Entry(EntryKey(program.WRED, (Exact(program.WRED_KEY, 77),)), cells[0].action)
        async with it.bfrt.line() as line, line.session(target) as session:
            await session.become_primary()
            await session.ensure_pipeline(found)
            await session.write([[Update(UpdateKind.INSERT, stray)]], found)
        (due,) = await diff_network(it.bfrt, found, wanted)
        assert due.updates == (Update(UpdateKind.DELETE, stray),)
        (mended,) = await install_network(it.bfrt, found, wanted)
        assert mended.updates_written == 1


async def test_registers_are_read_where_all_pipes_agree(tmp_path: Path) -> None:
    with device(tmp_path, "int_hpcc") as it:
        found, wanted = await running(it)
        async with it.bfrt.line() as line, line.session(it.bfrt.target(wanted[0])) as session:
            assert await session.read_register("egress.telemetry.tx_bytes", [0, 511], found) == {0: 0, 511: 0}
            with pytest.raises(PlanError, match="512 cells"):
                await session.read_register("egress.telemetry.tx_bytes", [512], found)


async def failure(session: Session, found: Program, *updates: Update) -> SwitchError:
    with pytest.raises(SwitchError) as caught:
        await session.write([updates], found)
    return caught.value


async def test_the_first_update_refused_is_named_and_the_others_are_counted(ecn_dual: Device) -> None:
    found, wanted = await running(ecn_dual)
    await install_network(ecn_dual.bfrt, found, wanted)
    entries = [one for one in wanted[0].entities if isinstance(one, Entry) and one.key.table == program.THRESHOLDS]
    gone = Entry(EntryKey(program.THRESHOLDS, (Exact(program.THRESHOLDS_KEY, 400),)), entries[0].action)
    target = ecn_dual.bfrt.target(wanted[0])
    async with ecn_dual.bfrt.line() as line, line.session(target) as session:
        await session.become_primary()
        with pytest.raises(SwitchError, match="not bound to ecn_dual"):
            await session.write([[Update(UpdateKind.INSERT, gone)]], found)
        await session.ensure_pipeline(found)
        error = await failure(
            session,
            found,
            Update(UpdateKind.MODIFY, entries[0]),
            Update(UpdateKind.DELETE, gone),
            Update(UpdateKind.INSERT, entries[1]),
        )
        assert error.code == "NOT_FOUND"
        assert str(error).startswith(f"{target}: write: delete egress.ecn.thresholds [egress_port=400] -> ")
        assert "; 1 more updates were refused" in error.cause


async def test_a_large_batch_says_what_of_it_was_refused(ecn_dual: Device) -> None:
    found, wanted = await running(ecn_dual)
    call = ActionCall(program.SET_THRESHOLDS, (("k", 1), ("k_dc", 2)))
    ports = [Entry(EntryKey(program.THRESHOLDS, (Exact(program.THRESHOLDS_KEY, port),)), call) for port in range(500)]
    async with ecn_dual.bfrt.line() as line, line.session(ecn_dual.bfrt.target(wanted[0])) as session:
        await session.become_primary()
        await session.ensure_pipeline(found)
        inserts = [Update(UpdateKind.INSERT, port) for port in ports]
        assert await session.write([inserts], found) == 500
        error = await failure(session, found, *(Update(UpdateKind.MODIFY, port) for port in ports), *inserts)
    assert error.code == "ALREADY_EXISTS"
    assert error.cause.endswith("; 499 more updates were refused")


async def test_a_program_has_one_client_and_an_id_too(ecn_dual: Device) -> None:
    found, wanted = await running(ecn_dual)
    target = ecn_dual.bfrt.target(wanted[0])
    async with ecn_dual.bfrt.line() as line, line.session(target) as session:
        await session.become_primary(7)
        await session.ensure_pipeline(found)
        with pytest.raises(
            SwitchError, match=r"bind to ecn_dual: ALREADY_EXISTS: client 7 .*stop the other controller"
        ):
            await install_network(ecn_dual.bfrt, found, wanted)
        with pytest.raises(SwitchError, match=r"subscription as client 7: .*taken.*use another client id"):
            await install_network(BfrtServer(ecn_dual.bfrt.address, bid=7), found, wanted)
        # Who only looks needs neither.
        (seen,) = await diff_network(ecn_dual.bfrt, found, wanted)
        assert len(seen.updates) == len(wanted[0].entities)
    (report,) = await install_network(BfrtServer(ecn_dual.bfrt.address, bid=7), found, wanted)
    assert report.updates_written == len(wanted[0].entities)


async def test_another_program_is_named_with_the_one_that_runs(ecn_dual: Device) -> None:
    with pytest.raises(
        SwitchError,
        match=r"the switch does not run program 'ecn_red', but 'ecn_dual' .*start the switch with the program",
    ):
        await running_program(ecn_dual.bfrt, "ecn_red", "leaf1")
    found, wanted = await running(ecn_dual)
    other = Program("ecn_dual", found.text + b" ")
    (seen,) = await diff_network(ecn_dual.bfrt, other, wanted)
    assert seen.pipeline_differs
    with pytest.raises(SwitchError, match="program ecn_dual has different tables on this switch"):
        await install_network(ecn_dual.bfrt, other, wanted)


async def test_what_only_p4runtime_has_words_for_is_refused_before_anything_is_written(ecn_dual: Device) -> None:
    found, (plan,) = await running(ecn_dual)
    session = CloneSession(CloneKey(5), ((4, 0),), 64)
    fixed = SwitchPlan(plan.switch, 0, plan.ports, plan.entities, (), plan.scope, (session,))
    with pytest.raises(PlanError, match="switch leaf1: entries from files and clone sessions"):
        await install_network(ecn_dual.bfrt, found, [fixed])
    (left,) = await diff_network(ecn_dual.bfrt, found, [plan])
    assert len(left.updates) == len(plan.entities)


def command(it: Device, verb: str, *arguments: str) -> Result:
    server = ["--protocol", "bfrt", "--server", it.bfrt.address, "--switch", "leaf1"]
    return CliRunner().invoke(app, [verb, *server, *SHAPE, *arguments], env={"COLUMNS": "120"})


def test_the_commands_speak_it(ecn_dual: Device) -> None:
    rules = ["--k-rule", "fixed", "--k-pkts", "21", "--k-dc-pkts", "40"]
    named = ["--p4-name", "ecn_dual"]
    before = command(ecn_dual, "diff", *named, *rules)
    assert before.exit_code == 1
    assert before.stdout.startswith("leaf1: 23 updates\n  insert ingress.forward.ecmp member 1 -> ")
    done = command(ecn_dual, "install", "--config", "somewhere/ecn_dual.p4", *rules, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == [{"switch": "leaf1", "pipeline_pushed": False, "updates_written": 23}]
    after = command(ecn_dual, "diff", "--p4info", "ecn_dual.p4info.txtpb", *rules, "--json")
    assert after.exit_code == 0
    assert json.loads(after.stdout) == [{"switch": "leaf1", "pipeline_differs": False, "updates": []}]
    shown = command(ecn_dual, "show", *named, "--json")
    assert shown.exit_code == 0, shown.stderr
    # In cells, of which a packet of 1500 bytes takes 19.
    assert {(port["k_cells"], port["k_dc_cells"]) for port in json.loads(shown.stdout)} == {(399, 760)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "error: --p4-name: the name of the program on the switch is unknown"),
        (
            ["--p4-name", "other"],
            "error: switch leaf1 (device 0 at {address}): program: the switch does not run program 'other'",
        ),
        (["--switch", "leaf9", "--p4-name", "ecn_dual"], "error: --switch leaf9: the topology has no such switch"),
        (["--p4-name", "ecn_dual", "--red-p-max", "nan"], "error: --red-p-max: nan is not a probability"),
    ],
)
def test_bad_input_is_one_message(ecn_dual: Device, arguments: list[str], message: str) -> None:
    result = command(ecn_dual, "diff", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(message.replace("{address}", ecn_dual.bfrt.address))
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("name", "left"), [("rcp", "egress.rcp.stamped"), ("int_md", "egress.telemetry.ports")])
def test_what_a_plan_leaves_alone_is_said(tmp_path: Path, name: str, left: str) -> None:
    with device(tmp_path, name) as it:
        done = command(it, "install", "--p4-name", name, "--json")
        assert done.exit_code == 0, done.stderr
        assert done.stderr == f"warning: table {left} is not changed: this command has no plan for it\n"
        assert json.loads(done.stdout)[0]["updates_written"] == 10


def test_features_stand_where_a_program_of_the_users_has_them(tmp_path: Path) -> None:
    for part in ("adaptors", "include", "controls", "tna"):
        shutil.copytree(ROOT / "p4src" / part, tmp_path / part)
    source = tmp_path / "tna" / "ecn_dual.p4"
    text = source.read_text(encoding="utf-8")
    assert text.count("EcnDual() ecn;") == text.count("ecn.apply(") == 1
    source.write_text(text.replace("EcnDual() ecn;", "EcnDual() mine;").replace("ecn.apply(", "mine.apply("), "utf-8")
    with device(tmp_path, "ecn_dual", source) as it:
        named = ["--p4-name", "ecn_dual"]
        assert "egress.mine.thresholds [egress_port=1]" in command(it, "diff", *named).stdout
        assert command(it, "install", *named).exit_code == 0
        shown = command(it, "show", *named, "--json")
        assert shown.exit_code == 0, shown.stderr
        assert None not in {port["k_cells"] for port in json.loads(shown.stdout)}


def test_each_switch_has_an_address_of_its_own() -> None:
    result = CliRunner().invoke(app, ["diff", "--protocol", "bfrt", "--p4-name", "ecn_dual", *SHAPE])
    assert result.exit_code == 2
    assert result.stderr.startswith(
        "error: --switch: the topology has 4 switches, each with a separate BF Runtime server"
    )


def test_a_switch_that_is_not_there_is_named() -> None:
    shape = ["--topology", "star", "--set", "senders=2"]
    arguments = ["diff", "--protocol", "bfrt", "--p4-name", "x", "--server", "127.0.0.1:1", *shape]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: switch s1 (device 0 at 127.0.0.1:1): program: UNAVAILABLE: ")
    assert "start the switch with BF Runtime" in result.stderr


async def test_p4runtimes_server_is_no_bf_runtime(ecn_dual: Device) -> None:
    with pytest.raises(ControllerError, match="UNIMPLEMENTED"):
        await running_program(BfrtServer(ecn_dual.p4runtime.address), "ecn_dual", "leaf1")


def test_a_program_without_roles_is_refused(tmp_path: Path) -> None:
    with device(tmp_path, "program", ROOT / "engine/bfrt/tests/grpc/program.p4") as it:
        result = command(it, "install", "--p4-name", "program")
        assert result.exit_code == 2
        assert result.stderr.startswith("error: P4 program: no table has one of the roles ecn_dual.thresholds, ")
