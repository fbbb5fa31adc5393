"""simple_switch_CLI under its own name: files of commands as courses write them, and answers in BMv2's words."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from p4cc.drop_in import folder as drop_in
from tests.switchd.namespaces import PATIENCE_S, wait_for
from tests.switchd.terminal import END, UP, Terminal
from tests.switchd.test_thrift import connect, free_port

HERE = Path(__file__).parent
PROGRAM = HERE / "commands.p4"
PROMPT = "RuntimeCmd: "
TABLE = "ingress.exact_match"
INTRODUCTION = "Obtaining JSON from switch...\nDone\nControl utility for runtime P4 table manipulation\n"


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of commands."""
    folder = tmp_path_factory.mktemp("drop_in")
    drop_in.make(folder, shadow=True)
    return folder


@pytest.fixture
def port(commands: Path) -> Generator[int]:
    """The Thrift port of a `simple_switch` that runs JSON of `p4c-bm2-ss`."""
    document = commands / "commands.json"
    subprocess.run([commands / "p4c-bm2-ss", "-o", document, PROGRAM], check=True, timeout=PATIENCE_S)
    port = free_port()
    words = ["--thrift-port", str(port), "--device-id", "7", "-L", "warn", str(document)]
    process = subprocess.Popen([commands / "simple_switch", *words])
    with wait_for(lambda: connect(port), "Thrift to answer"):
        pass
    yield port
    process.terminate()
    assert process.wait(PATIENCE_S) == 0


def told(commands: Path, port: int, script: str) -> tuple[str, str]:
    """What simple_switch_CLI says to a file of commands."""
    done = subprocess.run(
        [commands / "simple_switch_CLI", "--thrift-port", str(port)],
        input=script,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0
    return done.stdout, done.stderr


def answers(commands: Path, port: int, script: str) -> list[str]:
    """The answers to a file of commands."""
    said, _ = told(commands, port, script)
    before, *parts, after = said.split("RuntimeCmd: ")
    assert before == INTRODUCTION
    assert after == "\n", "a prompt before each command, and one at the end"
    return [part.strip() for part in parts]


def test_answers_are_those_of_bmv2_to_the_letter(commands: Path, port: int) -> None:
    # commands_answers.txt is what BMv2 1.15.5 and its simple_switch_CLI say to commands.txt.
    said, notes = told(commands, port, (HERE / "commands.txt").read_text())
    assert said == (HERE / "commands_answers.txt").read_text()
    assert notes == "register index omitted, reading entire array\n"


def test_programs_are_written_loaded_and_swapped(commands: Path, port: int, tmp_path: Path) -> None:
    config, state = tmp_path / "config.json", tmp_path / "state"
    said = answers(
        commands,
        port,
        f"register_write cells 3 17\nserialize_state {state}\nwrite_config_to_file {config}\n"
        f"swap_configs\nload_new_config_file {config}\nswap_configs\nregister_read cells 3\n",
    )
    assert said == [
        "",
        "",
        "",
        "Swapping configs\nInvalid swap operation (NO_ONGOING_SWAP)",
        "Loading new Json config",
        "Swapping configs",
        "cells[3]= 0",
    ]
    assert config.read_bytes() == (commands / "commands.json").read_bytes()
    assert state.stat().st_size > 0


def test_the_switch_tells_of_itself(commands: Path, port: int) -> None:
    info, elapsed, epoch = answers(commands, port, "switch_info\nget_time_elapsed\nget_time_since_epoch\n")
    assert info.splitlines()[:2] == [f"{'device_id':25}: 7", f"{'thrift_port':25}: {port}"]
    assert 0 < int(elapsed) < int(epoch)


def test_value_sets_and_lags_are_set(commands: Path, port: int) -> None:
    said = answers(
        commands,
        port,
        "pvs_add tags 0x800\npvs_add parse.tags 7\npvs_get tags\npvs_remove tags 7\npvs_get tags\npvs_add tags 65536\n"
        "mc_set_lag_membership 1 4 5\nmc_dump\n",
    )
    assert said[2:6] == ["0800\n0007", "", "0800", "Error: Parameter is too large"]
    # BMv2 shows the ports of the last node here.
    assert "LAGS\nlag(1) -> ports=[4, 5]\n" in said[7]


def test_an_empty_line_repeats_the_command_before_it(commands: Path, port: int) -> None:
    assert answers(commands, port, "\nmc_node_create 1 2\n\n# a comment\n") == [
        "",
        *("Creating node with rid 1 , port map 100 and lag map \nnode was created with handle " + n for n in "01"),
        "*** Unknown syntax: # a comment",
    ]


def test_what_no_port_can_take_is_said(commands: Path, port: int) -> None:
    said = answers(commands, port, "set_queue_depth 30 9\ntable_set_default keyless forward 512\nhelp\n")
    assert said[0] == "Error: there is no such port"
    assert said[1] == "Invalid runtime data: Error while parsing 512 - Parameter is too large"
    assert "table_dump_entry_from_key" in said[2]


def test_no_switch_is_said_in_bmv2s_words(commands: Path) -> None:
    done = subprocess.run(
        [commands / "simple_switch_CLI", "--thrift-port", str(free_port())],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout.startswith("Could not connect to thrift client on port ")


@pytest.fixture
def terminal(commands: Path, port: int) -> Generator[Terminal]:
    """The command line of a running switch at its prompt."""
    terminal = Terminal([str(commands / "simple_switch_CLI"), "--thrift-port", str(port)])
    terminal.until(PROMPT)
    yield terminal
    terminal.close()


def test_tab_completes_commands_tables_and_their_actions(terminal: Terminal) -> None:
    terminal.type("table_nu\t")
    terminal.until("table_num_entries")
    terminal.type(" ingress.exa\t")
    terminal.until(TABLE)
    terminal.type("\n")
    assert terminal.until(PROMPT).strip() == "0"
    terminal.type(f"table_set_default {TABLE} ingress.rew\t")
    terminal.until("ingress.rewrite")


def test_a_command_that_ended_at_its_prompt_gives_its_code() -> None:
    # It reads no more once the screen shows the word, which it says past the pipe.
    ends = f"printf '{PROMPT}'; exec 0<&-; echo gone >&2; exit 3"
    command = Terminal([sys.executable, "-m", "p4cc.drop_in.typed", "sh", "-c", ends])
    command.until("gone")
    command.type("show_tables\n")
    assert command.process.wait(PATIENCE_S) == 3
    command.close()


def test_arrows_bring_back_what_was_typed(terminal: Terminal) -> None:
    terminal.type("show_tables\n")
    shown = terminal.until(PROMPT)
    assert TABLE in shown
    terminal.type("no_such_command\n")
    terminal.until(PROMPT)
    terminal.type(f"{UP}{UP}\n")
    assert TABLE in terminal.until(PROMPT)
    terminal.type(END)
    assert terminal.process.wait(PATIENCE_S) == 0
