"""The verbs of `p4cc controller`: output, exit codes, and one clear message for each kind of bad input."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from controller.cli import app

INFO = str(Path(__file__).resolve().parents[2] / "p4src" / "golden" / "ecn_dual.p4info.txtpb")
STAR = ["--topology", "star", "--set", "senders=2"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "120"})


@pytest.mark.parametrize("verb", ["plan", "install", "diff", "show"])
def test_help_shows_an_example(verb: str) -> None:
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert f"p4cc controller {verb}" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "--rate-bps", "-5"], "error: rate_bps: -5 is not between 1 and"),
        (["plan", "--buffer-pkts", "20", "--k-rule", "halve_once"], "error: buffer_pkts: k_rule halve_once gives K"),
        (["plan", "--k-pkts", "25"], "error: k_pkts: k_rule proportional accepts no value"),
        (["plan", "--set", "senders=2"], "error: --set: there is no topology"),
        (["plan", *STAR, "--rate-bps", "1"], "error: --rate-bps: the topology defines it"),
        (["show", "--p4info", "nowhere.txt", *STAR], "error: P4Info nowhere.txt: No such file or directory"),
        (
            ["show", "--p4info", INFO, "--topology", "ring"],
            "error: topology: topology 'ring': there is no such generator",
        ),
        (["show", "--p4info", INFO, "--topology", "star"], "error: topology: senders: field required"),
        (
            ["show", "--p4info", INFO, "--topology", "star", "--set", "senders"],
            "error: --set senders: contains no '='",
        ),
        (["show", "--p4info", INFO, "--topology", "no.json"], "error: topology no.json: No such file"),
        (["show", "--p4info", INFO, "--topology", "no.json", "--set", "a=1"], "error: --set: a topology file"),
        (
            ["diff", "--p4info", INFO, "--config", "nowhere.p4", *STAR],
            "error: device config nowhere.p4: No such",
        ),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "pkts"),
    [(["--buffer-pkts", "10"], 10), ([*STAR, "--set", "queue_capacity_pkts=12", "--rtt-ns", "100000"], 12)],
)
def test_a_queue_below_dctcps_bound_is_a_warning(arguments: list[str], pkts: int) -> None:
    result = run("plan", *arguments)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: ")
    assert "DCTCP's bound requires K_dc of 12 packets" in result.stderr
    assert f"but the queue has room for {pkts}: " in result.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "input should be"),
        ('{"hosts": [], "switches": [{"name": "s1"}], "links": [{"a": "s1"}]}', "links[0].b: field required"),
        ("\ufffe", "not valid JSON"),
    ],
)
def test_a_broken_topology_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "net.json"
    file.write_bytes(b"\xff\xfe" if content == "\ufffe" else content.encode())
    result = run("show", "--p4info", INFO, "--topology", str(file))
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_p4info_that_is_not_text_needs_a_binary_name(tmp_path: Path) -> None:
    file = tmp_path / "program.p4info"
    file.write_bytes(b"\xff\xff")
    result = run("show", "--p4info", str(file), *STAR)
    assert result.exit_code == 2
    assert "a binary P4Info must be named .bin" in result.stderr


def test_a_p4info_with_externs_of_the_chip_says_how_it_is_compiled(tmp_path: Path) -> None:
    file = tmp_path / "program.p4info.txtpb"
    file.write_text("externs { instances { info { [type.googleapis.com/barefoot.ActionProfile] { size: 1 } } } }")
    result = run("show", "--p4info", str(file), *STAR)
    assert result.exit_code == 2
    assert "compile it with p4c's --p4runtime-force-std-externs" in result.stderr


def test_an_unknown_option_is_exit_code_2() -> None:
    assert run("plan", "--buffer", "100").exit_code == 2


def test_a_switch_that_is_not_there_is_named() -> None:
    # Port 1 of the loopback interface: nothing listens there.
    result = run("show", "--p4info", INFO, *STAR, "--server", "127.0.0.1:1")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: switch s1 (device 1 at 127.0.0.1:1): read of egress.ecn.level_packets: ")
    assert "UNAVAILABLE" in result.stderr
    assert "start the switch, or correct its address" in result.stderr
