"""simple_switch_CLI under its own name: files of commands as courses write them, and answers in BMv2's words."""

from __future__ import annotations

import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from p4cc.drop_in import folder as drop_in
from tests.switchd.namespaces import PATIENCE_S, ROOT, wait_for
from tests.switchd.test_thrift import connect, free_port

PROGRAM = ROOT / "tests/p4runtime/everything.p4"


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of commands."""
    folder = tmp_path_factory.mktemp("drop_in")
    drop_in.make(folder, shadow=True)
    return folder


@pytest.fixture
def port(commands: Path) -> Generator[int]:
    """The Thrift port of a `simple_switch` that runs JSON of `p4c-bm2-ss`."""
    document = commands / "everything.json"
    subprocess.run([commands / "p4c-bm2-ss", "-o", document, PROGRAM], check=True, timeout=PATIENCE_S)
    port = free_port()
    words = ["--thrift-port", str(port), "--device-id", "7", "-L", "warn", str(document)]
    process = subprocess.Popen([commands / "simple_switch", *words])
    with wait_for(lambda: connect(port), "Thrift to answer"):
        pass
    yield port
    process.terminate()
    assert process.wait(PATIENCE_S) == 0


def told(commands: Path, port: int, script: str) -> list[str]:
    """What simple_switch_CLI answers to a file of commands, a prompt taken off each answer."""
    done = subprocess.run(
        [commands / "simple_switch_CLI", "--thrift-port", str(port)],
        input=script,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers = done.stdout.split("RuntimeCmd: ")
    assert (answers[0], answers[-1]) == ("", "\n"), "a prompt before each command, and one at the end"
    return [answer.strip() for answer in answers[1:-1]]


def test_entries_are_added_changed_and_deleted(commands: Path, port: int) -> None:
    answers = told(
        commands,
        port,
        """
        table_set_default keyless discard
        table_add ingress.exact_match forward 10.0.0.1 1 => 3
        table_add acl report 10.0.0.0&&&255.0.0.0 1->20 0&&&0 => 5
        table_modify exact_match forward 0 => 4
        table_dump exact_match
        table_delete exact_match 0
        table_num_entries exact_match
        """.replace("        ", ""),
    )
    # Empty lines have prompts, too.
    answers = [answer for answer in answers if answer]
    assert answers == [
        "Setting default action of ingress.keyless\naction:              ingress.discard\nruntime data:",
        "Adding entry to exact match table ingress.exact_match\n"
        "match key:           EXACT-0a:00:00:01\tEXACT-01\n"
        "action:              ingress.forward\n"
        "runtime data:        00:03\n"
        "Entry has been added with handle 0",
        "Adding entry to range match table ingress.acl\n"
        "match key:           TERNARY-0a:00:00:00 &&& ff:00:00:00\tRANGE-00:01 -> 00:14\tTERNARY-00:00 &&& 00:00\n"
        "action:              ingress.report\n"
        "runtime data:        \n"
        "Entry has been added with handle 0",
        "Modifying entry 0 for table ingress.exact_match",
        "0 0x0a000001 0x01 => ingress.forward 0x0004\ndefault => NoAction",
        "Deleting entry 0 from ingress.exact_match",
        "0",
    ]


def test_profiles_groups_and_meters_are_set(commands: Path, port: int) -> None:
    answers = told(
        commands,
        port,
        "act_prof_create_member ecmp forward 5\n"
        "act_prof_create_group ecmp\n"
        "act_prof_add_member_to_group ecmp 0 0\n"
        "table_indirect_add_with_group routes 10.0.0.0/8 => 0\n"
        "mc_mgrp_create 1\n"
        "mc_node_create 4 1 3\n"
        "mc_node_associate 1 0\n"
        "meter_set_rates rates 0 0.001:10 0.002:20\n"
        "register_write cells 2 7\n",
    )
    assert answers == [
        "Member has been created with handle 0",
        "Group has been created with handle 0",
        "",
        "Adding entry to indirect match table ingress.routes\nEntry has been added with handle 0",
        "Creating multicast group 1",
        "Creating node with rid 4 , port map 1010 and lag map \nnode was created with handle 0",
        "Associating node 0 to multicast group 1",
        "",
        "",
    ]


def test_a_command_that_fails_says_why_and_the_rest_runs(commands: Path, port: int) -> None:
    answers = told(
        commands,
        port,
        "table_add nothing forward 1 => 2\n"
        "table_add exact_match forward 10.0.0.1 => 2\n"
        "table_add exact_match forward 10.0.0.1 1 => 512\n"
        "table_add exact_match forward 10.0.0.1 1\n"
        "table_add acl report 1&&&1 1->2 0&&&0 =>\n"
        "frobnicate\n"
        "table_num_entries exact_match\n",
    )
    assert answers[:-1] == [
        "Error: there is no table `nothing`",
        "Error: table ingress.exact_match has 2 keys, not 1",
        "Error: `512` needs 10 bits, the program has 9",
        "Error: give `=>` between keys and action data",
        "Error: give a priority at the end",
        "Error: is not a command, or has the wrong arguments; see p4cc-switch-cli --help",
    ]
    assert answers[-1] == "0"
