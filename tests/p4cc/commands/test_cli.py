"""The command line as a user meets it: outputs, exit codes, messages."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_line import p4cc

ROOT = Path(__file__).resolve().parents[3]
INCAST = "experiments/gst/incast.yaml"
ECN_DUAL = ROOT / "p4src" / "v1model" / "ecn_dual.p4"
P4CC = str(Path(sys.executable).with_name("p4cc"))
SMALL = ("--set", "topology.senders=2", "--set", "seeds=[1]", "--set", "traffic.sru_bytes=20000")


SLOW = {"attr", "finsy", "grpc", "matplotlib", "numpy", "polars", "pyarrow", "pygments", "ruamel.yaml"}
"""What takes long to import, and no help needs."""
ROOMS = {"controller", "p4cc._engine", "p4cc.planning", "p4cc.running", "p4cc.scenario"}
"""p4cc's own, of which the list of commands says nothing."""
NOT_OF_A_RUN = {
    *(
        "PIL",
        "attr",
        "markdown_it",
        "matplotlib",
        "numpy.ma",
        "plotly",
        "pygments",
        "ray",
        "rich",
        "scapy",
        "starlette",
    ),
    *("p4cc.cluster", "p4cc.dissector", "p4cc.drop_in", "p4cc.explain", "p4cc.figures", "p4cc.grading", "p4cc.lab"),
    *("p4cc.live", "p4cc.packet_way", "p4cc.pages", "p4cc.report", "p4cc.reproduce", "p4cc.tofino"),
    *("p4cc.running.bars", "p4cc.running.server_run", "p4cc.running.sweep", "p4cc.user_algorithms.check"),
}
"""What a run of a plain scenario does without: others' studies, pages, figures, labs, and colours with `--json`."""
PLAIN = """
topology: {kind: star, senders: 2}
traffic: {kind: incast, sru_bytes: 20000}
variants: [{name: DCTCP, congestion_avoidance: {name: dctcp}}]
stop_ns: 4ms
"""
ASKS = """
import sys
from p4cc.cli import main
sys.argv[0] = "p4cc"
try:
    main()
except SystemExit as end:
    assert not end.code, end
print(*sys.modules, file=sys.stderr)
"""


def modules_of(*words: str) -> set[str]:
    """What a command imports: modules, and the packages that hold them."""
    done = subprocess.run(
        [sys.executable, "-c", ASKS, *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout
    return set(done.stderr.split())


def commands_in(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("p4cc.commands.")}


@pytest.mark.parametrize(
    ("words", "beside"),
    [
        (("--help",), {"pydantic"}),
        (("-h",), {"pydantic"}),
        (("--version",), {"pydantic", "rich"}),
        # typer reads options of commands by pydantic.
        (("run", "--help"), set[str]()),
        (("controller", "--help"), set[str]()),
    ],
)
def test_help_waits_for_nothing_that_is_slow_to_import(words: tuple[str, ...], beside: set[str]) -> None:
    found = modules_of(*words)
    # The group's help lists its verbs, which know plans, and these numpy.
    slow = SLOW - {"numpy", "pygments", "attr"} if words[0] == "controller" else SLOW
    assert (slow | beside).isdisjoint(found)
    if words[0].startswith("-"):
        assert ROOMS.isdisjoint(found)
        assert commands_in(found) == {"p4cc.commands.listed"}


def test_a_plain_run_imports_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text(PLAIN, encoding="utf-8")
    found = modules_of("run", str(path), "--out", str(tmp_path / "out"), "--no-cache", "--json")
    assert not NOT_OF_A_RUN & found
    assert commands_in(found) == {f"p4cc.commands.{name}" for name in ("drivers", "listed", "options", "run")}


def test_what_is_stood_in_for_help_is_there_for_others() -> None:
    asks = r"""
from p4cc.quick_help import prepare
prepare(["--help"])
import sys
assert "rich.traceback" not in sys.modules
import typer.rich_utils
assert typer.rich_utils.Traceback.from_exception(ValueError, ValueError("x"), None).trace.stacks
import rich.markdown, rich.syntax, rich.traceback
from rich.console import Console
assert isinstance(rich.markdown.Syntax("x = 1", "python"), rich.syntax.Syntax)
Console().print(rich.markdown.Markdown("```python\nlisted = 1\n```"))
"""
    done = subprocess.run([sys.executable, "-c", asks], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "listed = 1" in done.stdout


def test_json_is_the_summary_and_nothing_else(tmp_path: Path) -> None:
    done = p4cc("run", INCAST, *SMALL, "--out", str(tmp_path / "out"), "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    summary = json.loads(done.stdout)
    assert summary == json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    needed = {
        "variant", "senders", "seed", "goodput_bps", "finish_ns", "flows_completed", "timeouts", "flows_timed_out",
        "drops", "marks_level1", "marks_level2", "peak_queue_pkts", "packet_hops", "wall_s",
    }  # fmt: skip
    assert all(needed <= set(one) for one in summary["runs"])
    assert [one["variant"] for one in summary["runs"]] == ["DCTCP", "GST-DCTCP"]


def test_the_table_names_the_figure_and_the_folder(tmp_path: Path) -> None:
    done = p4cc("run", INCAST, *SMALL, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "GST-DCTCP" in done.stdout
    assert f"wrote {tmp_path / 'out' / 'incast.png'}" in done.stdout
    assert (tmp_path / "out" / "incast.png").read_bytes().startswith(b"\x89PNG")
    assert "\x1b[" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "texts"),
    [
        (("run", "absent.yaml"), 2, ("absent.yaml", "the scenario does not exist", "remedy")),
        (("run", INCAST, "--set", "topology.rate_bps=-1"), 2, ("topology.rate_bps", "greater than 0")),
        (("run", INCAST, "--set", "topologie.rate_bps=1"), 2, ("unknown key 'topologie'", "did you mean 'topology'")),
        (
            ("run", INCAST, "--set", "variants.DCTCP.congestion_avoidance.name=dtcp"),
            2,
            ("dtcp", "did you mean", "dctcp"),
        ),
        (
            ("run", INCAST, "--set", "variants.DCTCP.congestion_avoidance.g=7"),
            2,
            ("congestion_avoidance.g", "7", "range"),
        ),
        (("run", INCAST, "--variant", "CUBIC"), 2, ("no variant 'CUBIC'", "DCTCP, GST-DCTCP")),
        (("run", INCAST, "--set", "switch.program=absent.p4"), 2, ("absent.p4", "searched ")),
        (("check", "absent.p4"), 2, ("absent.p4", "the P4 program does not exist")),
    ],
)
def test_a_user_s_mistake_is_one_message(
    tmp_path: Path, arguments: tuple[str, ...], code: int, texts: tuple[str, ...]
) -> None:
    out = ("--out", str(tmp_path / "out")) if arguments[0] == "run" else ()
    done = p4cc(*arguments, *out)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for text in texts:
        assert text in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        ("level = LEVEL_K_DC;", "level = LEVEL_K_DC", ("controls/ecn_dual.p4:85:", "expected `;`")),
        ("level = LEVEL_NONE;", "level = 16w1;", ("bit<2>", "bit<16>")),
        ("thresholds.apply();", "threshold.apply();", ("threshold", "did you mean")),
    ],
)
def test_a_p4_error_names_line_and_column(tmp_path: Path, old: str, new: str, texts: tuple[str, ...]) -> None:
    for part in ("adaptors", "include", "controls", "v1model"):
        (tmp_path / part).mkdir()
        for source in (ROOT / "p4src" / part).glob("*.p4"):
            text = source.read_text(encoding="utf-8")
            changed = text.replace(old, new, 1) if source.parent.name == "controls" else text
            (tmp_path / part / source.name).write_text(changed, encoding="utf-8")
    program = str(tmp_path / "v1model" / "ecn_dual.p4")
    for arguments, code in ((("check", program), 1), (("run", INCAST, "--set", f"switch.program={program}"), 2)):
        done = p4cc(*arguments)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        assert "controls/ecn_dual.p4:" in done.stderr
        for text in texts:
            assert text in done.stderr


def test_compile_writes_p4info_and_ir(tmp_path: Path) -> None:
    p4info, ir = tmp_path / "p4info.txtpb", tmp_path / "program.ir"
    done = p4cc("compile", str(ECN_DUAL), "--p4info", str(p4info), "--ir", str(ir))
    assert done.returncode == 0, done.stderr
    assert 'name: "egress.ecn.thresholds"' in p4info.read_text(encoding="utf-8")
    assert "egress.ecn.thresholds" in ir.read_text(encoding="utf-8")
    assert p4cc("compile", str(ECN_DUAL), "--ir", "-").stdout == ir.read_text(encoding="utf-8")


def test_schema_and_algorithms_are_json() -> None:
    schema = json.loads(p4cc("schema").stdout)
    assert schema["properties"]["topology"]
    algorithms = json.loads(p4cc("algorithms", "--json").stdout)
    assert {"dctcp", "gst", "reno"} <= {entry["name"] for entry in algorithms}
    assert "dctcp" in p4cc("algorithms").stdout
    (one,) = json.loads(p4cc("algorithms", "dctcp", "--json").stdout)
    assert one["name"] == "dctcp"
    unknown = p4cc("algorithms", "dctpc")
    assert unknown.returncode == 2
    assert "dctpc: unknown algorithm" in unknown.stderr
    assert "dctcp" in unknown.stderr


def test_the_planner_prints_all_readings() -> None:
    for buffer_pkts, k_pkts in ((100, 8), (150, 33)):
        done = p4cc("controller", "plan", "--buffer-pkts", str(buffer_pkts), "--k-rule", "halve_once", "--json")
        assert done.returncode == 0, done.stderr
        plan = json.loads(done.stdout)
        assert plan["k_pkts"] == k_pkts
        assert {"printed", "halve_once", "argmax"} <= {setting["reading"] for setting in plan["settings"]}
        assert plan["warnings"] == []


def test_the_network_is_shown_as_table_json_and_picture(tmp_path: Path) -> None:
    done = p4cc("topo", INCAST, "--set", "topology.senders=3")
    assert done.returncode == 0, done.stderr
    assert "4 hosts, 1 switch, 4 links" in done.stdout
    plain = json.loads(p4cc("topo", INCAST, "--set", "topology.senders=3", "--json").stdout)
    assert [host["name"] for host in plain["hosts"]] == ["h1", "h2", "h3", "aggregator"]
    picture = tmp_path / "fat.png"
    done = p4cc("topo", INCAST, "--set", "topology={kind: fat_tree, k: 4}", "--set", "sweep={}", "--png", str(picture))
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_interrupted_run_leaves_no_results_and_goes_on_later(tmp_path: Path) -> None:
    running = subprocess.Popen(
        [P4CC, "run", INCAST, "--set", "topology.senders=[70, 71, 72]", "--out", str(tmp_path / "out")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not any(tmp_path.glob(".p4cc-cache/??/*.zip")) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, stderr = running.communicate(timeout=60)
    assert running.returncode == 130, stderr
    assert "interrupted" in stderr
    assert "continues from there" in stderr
    assert [path.name for path in tmp_path.iterdir()] == [".p4cc-cache"]
    assert not any(tmp_path.glob(".p4cc-cache/??/*.partial"))
