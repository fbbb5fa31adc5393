"""`p4cc tofino-report` as a user meets it: the table, what a failure looks like, and what is asked of the compiler.

A driver made here stands for p4c: it answers as p4c does and writes reports of the same shape, small and by hand. The
last test runs p4c itself where it is installed with its Tofino targets.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from p4cc.errors import UserError
from p4cc.tofino.usage import read_usage
from tests.command_line import p4cc

ROOT = Path(__file__).resolve().parents[3]
P4CC = str(Path(sys.executable).with_name("p4cc"))
VERSION = "p4c 1.2.3 (SHA: of a test)"
# What the driver does is said by the program: it warns, fails, never ends, or writes the reports beside it.
DRIVER = f"""#!{sys.executable}
import json, pathlib, sys, time
here = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
if arguments == ["--version"]:
    print("{VERSION}")
    sys.exit(0)
if arguments == ["--target-help"]:
    print((here / "targets.txt").read_text())
    sys.exit(0)
with (here / "calls.txt").open("a") as calls:
    calls.write(json.dumps(arguments) + "\\n")
text = pathlib.Path(arguments[-1]).read_text()
if "slow" in text:
    (here / "started").touch()
    time.sleep(60)
if "warn" in text:
    print("a.p4(3): [--Wwarn=unused] warning: x: unused instance", file=sys.stderr)
if "bad" in text:
    print("a.p4(7): [--Werror=type-error] error: y: no such field", file=sys.stderr)
    sys.exit(1)
if "python" in text:
    print("Traceback (most recent call last):\\n  a.py\\nModuleNotFoundError: No module named 'jsl'")
    sys.exit(2)
if "mute" in text:
    sys.exit(4)
out = pathlib.Path(arguments[arguments.index("-o") + 1])
for name, report in json.loads((here / "reports.json").read_text()).items():
    path = out / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report))
"""


def stage(srams: int, tcams: int, meters: int) -> dict[str, Any]:
    """A stage's report with so many blocks in use."""
    return {
        "rams": {"nRows": 8, "nColumns": 10, "srams": [{}] * srams},
        "tcams": {"nRows": 12, "nColumns": 2, "tcams": [{}] * tcams},
        "map_rams": {"nRows": 8, "nUnits": 6, "maprams": [{}] * meters},
        "meter_alus": {"nAlus": 4, "meters": [{}] * meters},
        "statistic_alus": {"nAlus": 4, "stats": []},
        "gateways": {"nRows": 8, "nUnits": 2, "gateways": [{}]},
        "logical_tables": {"size": 16, "ids": [{}, {}]},
    }


def transition(of: str) -> dict[str, Any]:
    return {"previous_state_name": of, "next_state_name": "END"}


def table(kind: str, direction: str, **more: object) -> dict[str, Any]:
    return {"table_type": kind, "direction": direction, **more}


def at(number: int, memory: str = "sram") -> list[dict[str, Any]]:
    return [{"stage_number": number, "memory_resource_allocation": {"memory_type": memory}}]


def container(kind: str, width: int, *bits: tuple[int, int]) -> dict[str, Any]:
    slices = [{"slice_info": {"lsb": low, "msb": high}} for low, high in bits]
    return {"container_type": kind, "bit_width": width, "slices": slices}


def reports(pipe: str = "pipe") -> dict[str, Any]:
    """Of a program with one pipe: ingress in stages 0 to 2, egress in 0 to 4, of 12."""
    files = {
        "context": {"path": f"{pipe}/context.json"},
        "resources": [{"path": f"{pipe}/logs/resources.json", "type": "resources"}],
        "logs": [
            {"path": f"{pipe}/logs/phv_allocation_0.log", "log_type": "phv"},
            {"path": f"{pipe}/logs/phv.json", "log_type": "phv"},
        ],
    }
    context = {
        "tables": [
            table("match", "ingress", match_attributes={"stage_tables": at(0, "ingress_buffer")}),
            table("match", "ingress", match_attributes={"stage_tables": [*at(1), *at(2)]}),
            table("condition", "egress", stage_tables=at(4, "gateway")),
            # Without a stage of its own: action data that match entries carry.
            table("action", "egress", stage_tables=[]),
            table("stateful", "egress", stage_tables=at(3)),
        ]
    }
    parsers = [
        {"gress": "ingress", "states": [transition("start"), transition("ethernet"), transition("ethernet")]},
        {"gress": "egress", "states": [transition("start")]},
    ]
    phv_containers: dict[str, Any] = {
        "normal": [{"width": 8, "units": 64, "addresses": []}, {"width": 32, "units": 64, "addresses": []}],
        "tagalong": [{"width": 16, "units": 48, "addresses": []}],
    }
    resources: dict[str, Any] = {
        "mau": {"nStages": 12, "mau_stages": [stage(2, 0, 0), stage(3, 1, 1), stage(0, 0, 0)]},
        "parser": {"nParsers": 18, "parsers": parsers},
        "phv_containers": phv_containers,
    }
    # The two fields of the second container lie over each other in bits 0 to 3.
    containers = [
        container("normal", 8, (0, 7)),
        container("normal", 32, (0, 15), (0, 3)),
        container("tagalong", 16, (4, 7), (8, 15)),
        container("normal", 8),
    ]
    return {
        "manifest.json": {"programs": [{"pipes": [{"pipe_name": pipe, "files": files}]}]},
        f"{pipe}/context.json": context,
        f"{pipe}/logs/resources.json": {"resources": resources},
        f"{pipe}/logs/phv.json": {"containers": containers},
    }


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """A driver with both targets, in a folder of its own."""
    path = tmp_path / "bin" / "p4c"
    path.parent.mkdir()
    path.write_text(DRIVER, encoding="utf-8")
    path.chmod(0o755)
    (path.parent / "targets.txt").write_text("bmv2-ss-v1model\ntofino-tna\ntofino2-t2na", encoding="utf-8")
    (path.parent / "reports.json").write_text(json.dumps(reports()), encoding="utf-8")
    return path


def program(folder: Path, name: str, text: str = "") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def report(*arguments: object, path: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {key: value for key, value in os.environ.items() if key != "P4C"} | environment
    if path is not None:
        known["PATH"] = path
    return p4cc("tofino-report", *arguments, env=known)


def rows(text: str) -> list[list[str]]:
    """Cells of a table's rows, its heading left out."""
    lines = [line for line in text.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_a_row_for_each_program_and_chip(driver: Path, tmp_path: Path) -> None:
    one = program(tmp_path, "one.p4", "warn")
    done = report("--p4c", driver, one)
    assert done.returncode == 0, done.stderr
    numbers = ["3/12", "5/12", "7", "5", "1", "1", "1", "8", "12", "16", "2, 3", "1, 1", "1"]
    assert [row[:-1] for row in rows(done.stdout)] == [["one", "Tofino 1", *numbers], ["one", "Tofino 2", *numbers]]
    assert VERSION in done.stdout
    assert "A pipe of Tofino 1 has 12 stages, 960 SRAM, 288 TCAM" in done.stdout
    assert "512, 768 and 2,048 bits of PHV" in done.stdout


def test_a_program_for_tofino_2_is_compiled_for_it_alone(driver: Path, tmp_path: Path) -> None:
    both, one = program(tmp_path, "both.p4", "#include <tna.p4>\n"), program(tmp_path, "one.p4", "#include <t2na.p4>\n")
    done = report("--p4c", driver, both, one)
    assert [row[:2] for row in rows(done.stdout)] == [["both", "Tofino 1"], ["both", "Tofino 2"], ["one", "Tofino 2"]]
    asked = report("--p4c", driver, one, "--chip", "tofino")
    assert [row[:2] for row in rows(asked.stdout)] == [["one", "Tofino 1"]]


def test_the_driver_is_asked_for_reports_and_gets_the_folders_to_search(driver: Path, tmp_path: Path) -> None:
    one = program(tmp_path, "one.p4")
    kept = tmp_path / "kept"
    done = report("--p4c", driver.parent, one, "--chip", "tofino2", "-I", tmp_path, "-D", "N=4", "--keep", kept)
    assert done.returncode == 0, done.stderr
    (call,) = (json.loads(line) for line in (driver.parent / "calls.txt").read_text(encoding="utf-8").splitlines())
    library = str(ROOT / "p4src" / "library")
    assert call == [
        *("--target", "tofino2", "--std", "p4-16", "-g", "-I", str(tmp_path), "-I", library, "-D", "N=4"),
        *("-o", str(kept / "one" / "tofino2" / "out"), str(one)),
    ]
    assert (kept / "one" / "tofino2" / "out" / "pipe" / "context.json").exists()


def test_a_folder_of_programs(driver: Path, tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("b.p4", "a.p4"):
        program(folder, name)
    done = report("--p4c", driver, folder, "--chip", "tofino")
    assert [row[0] for row in rows(done.stdout)] == ["a", "b"]


def test_json_holds_all_that_was_read(driver: Path, tmp_path: Path) -> None:
    done = report("--p4c", driver, program(tmp_path, "one.p4"), "--chip", "tofino", "--json")
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)
    (pipe,) = record["pipes"]
    assert (record["chip"], record["compiled"], pipe["free_stages"]) == ("tofino", True, 7)
    # The table that the ingress buffer holds (phase 0) takes no stage.
    assert pipe["directions"] == {
        "ingress": {"stages": 3, "tables": 1, "parser_states": 2, "parser_rows": 3},
        "egress": {"stages": 5, "tables": 1, "parser_states": 1, "parser_rows": 1},
    }
    assert pipe["memories"]["sram"] == {"used": 5, "available": 960}
    assert pipe["memories"]["logical_table"] == {"used": 6, "available": 192}
    assert pipe["phv"][:2] == [
        {"kind": "normal", "width_bits": 8, "used": 1, "bits": 8, "available": 64},
        {"kind": "normal", "width_bits": 32, "used": 1, "bits": 16, "available": 64},
    ]


def test_markdown_has_no_times(driver: Path, tmp_path: Path) -> None:
    done = report("--p4c", driver, program(tmp_path, "one.p4"), "--chip", "tofino", "--markdown")
    assert done.stdout.splitlines()[2] == (
        "| one | Tofino 1 | 3/12 | 5/12 | 7 | 5 | 1 | 1 | 1 | 8 | 12 | 16 | 2, 3 | 1, 1 | 0 |"
    )
    assert f"Compiled by {VERSION}." in done.stdout


def test_each_pipe_has_its_row(driver: Path, tmp_path: Path) -> None:
    two = reports("left") | reports("right")
    pipes = (
        reports("left")["manifest.json"]["programs"][0]["pipes"]
        + reports("right")["manifest.json"]["programs"][0]["pipes"]
    )
    two["manifest.json"] = {"programs": [{"pipes": pipes}]}
    (driver.parent / "reports.json").write_text(json.dumps(two), encoding="utf-8")
    done = report("--p4c", driver, program(tmp_path, "one.p4"), "--chip", "tofino")
    assert [row[0] for row in rows(done.stdout)] == ["one (left)", "one (right)"]


def test_a_program_that_does_not_compile(driver: Path, tmp_path: Path) -> None:
    good, bad, mute = (program(tmp_path, f"{word}.p4", word) for word in ("good", "bad warn", "mute"))
    done = report("--p4c", driver, good, bad, mute, "--chip", "tofino")
    assert done.returncode == 1, done.stderr
    assert [row[:3] + row[-2:-1] for row in rows(done.stdout)] == [
        ["good", "Tofino 1", "3/12", "0"],
        ["bad warn", "Tofino 1", "-", "1"],
        ["mute", "Tofino 1", "-", "0"],
    ]
    assert done.stdout.splitlines()[-4:] == [
        f"{bad} for Tofino 1:",
        "  a.p4(7): [--Werror=type-error] error: y: no such field",
        f"{mute} for Tofino 1:",
        "  p4c exited with code 4 without a message",
    ]


def test_a_driver_that_fails_itself(driver: Path, tmp_path: Path) -> None:
    done = report("--p4c", driver, program(tmp_path, "one.p4", "python"), "--chip", "tofino")
    assert done.stdout.splitlines()[-1] == "  ModuleNotFoundError: No module named 'jsl'"


def test_a_compilation_that_does_not_end(driver: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    done = report("--p4c", driver, program(tmp_path, "slow.p4", "slow"), "--chip", "tofino", "--limit", "2")
    assert done.returncode == 1
    assert "not finished within 2 s" in done.stdout
    assert time.monotonic() - started < 50


def test_ctrl_c_ends_the_compilers_too(driver: Path, tmp_path: Path) -> None:
    command = [P4CC, "tofino-report", "--p4c", str(driver), str(program(tmp_path, "slow.p4", "slow")), "--jobs", "1"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for _ in range(600):
            if (driver.parent / "started").exists():
                break
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=40)
    assert process.returncode == 130
    assert said.decode().strip() == "interrupted"
    assert len((driver.parent / "calls.txt").read_text(encoding="utf-8").splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "cause"),
    [
        ([], {}, "PATH: p4c is not installed"),
        (["--p4c", "/nowhere/p4c"], {}, "--p4c: /nowhere/p4c is not an executable program"),
        ([], {"P4C": "/nowhere/p4c"}, "variable P4C: /nowhere/p4c is not an executable program"),
        (["--p4c", "/bin/false"], {}, "did not list its targets"),
        (["--p4c", "/bin/true"], {}, "lacks the target tofino and the target tofino2"),
    ],
)
def test_no_compiler(arguments: list[str], environment: dict[str, str], cause: str, tmp_path: Path) -> None:
    done = report(program(tmp_path, "one.p4"), *arguments, path="/nowhere", **environment)
    assert done.returncode == 2
    assert cause in done.stderr
    assert "remedy: build p4c with -DENABLE_TOFINO=ON" in done.stderr


def test_a_compiler_without_one_of_the_chips(driver: Path, tmp_path: Path) -> None:
    (driver.parent / "targets.txt").write_text("tofino-tna", encoding="utf-8")
    one = program(tmp_path, "one.p4")
    assert "lacks the target tofino2" in report(one, path="/nowhere", P4C=str(driver)).stderr
    assert report(one, "--chip", "tofino", path=str(driver.parent)).returncode == 0


@pytest.mark.parametrize(
    ("given", "cause"), [("nothing.p4", "the file does not exist"), (".", "the folder contains no P4 program")]
)
def test_no_program(given: str, cause: str, driver: Path, tmp_path: Path) -> None:
    done = report("--p4c", driver, tmp_path / given)
    assert done.returncode == 2
    assert f"error: {tmp_path / given}: {cause}" in done.stderr


def broken(change: str) -> dict[str, Any]:
    """Reports with one thing wrong."""
    wrong = reports()
    resources = wrong["pipe/logs/resources.json"]["resources"]
    if change == "no pipe":
        wrong["manifest.json"]["programs"] = []
    elif change == "no phv.json":
        wrong["manifest.json"]["programs"][0]["pipes"][0]["files"]["logs"].pop()
    elif change == "no file":
        del wrong["pipe/context.json"]
    elif change == "text":
        resources["mau"]["nStages"] = "12"
    elif change == "negative":
        resources["mau"]["nStages"] = -1
    elif change == "bits":
        wrong["pipe/logs/phv.json"]["containers"] = [container("normal", 8, (0, 1 << 40))]
    elif change == "no object":
        wrong["pipe/context.json"] = []
    elif change == "tables":
        wrong["pipe/context.json"]["tables"] = {"a": 1}
    return wrong


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("no pipe", "the report has no pipe"),
        ("no phv.json", "logs does not list the report phv"),
        ("no file", "cannot read: No such file"),
        ("text", "nStages is str, not int"),
        ("negative", "nStages is negative"),
        ("bits", "of a container of 8"),
        ("no object", "is not a JSON object"),
        ("tables", "tables is dict, not list"),
    ],
)
def test_reports_that_are_not_as_they_should_be(change: str, message: str, tmp_path: Path) -> None:
    for name, one in broken(change).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(one), encoding="utf-8")
    with pytest.raises(UserError, match=message) as found:
        read_usage(tmp_path)
    assert str(tmp_path) in found.value.place


def test_broken_json_is_a_row_without_numbers(driver: Path, tmp_path: Path) -> None:
    wrong = reports()
    del wrong["pipe/context.json"]
    (driver.parent / "reports.json").write_text(json.dumps(wrong), encoding="utf-8")
    done = report("--p4c", driver, program(tmp_path, "one.p4"), "--chip", "tofino")
    assert done.returncode == 1
    assert "compiled, but its reports cannot be read" in done.stdout


def installed() -> bool:
    """Whether there is a p4c with both Tofino targets."""
    found = os.environ.get("P4C") or shutil.which("p4c")
    if not found or not Path(found).is_file():
        return False
    known = subprocess.run([found, "--target-help"], capture_output=True, text=True, check=False, timeout=60)
    return "tofino2" in known.stdout


@pytest.mark.skipif(not installed(), reason="p4c with its Tofino targets is not installed (docs/tofino.md)")
def test_p4c_itself() -> None:
    own = {"P4C": os.environ["P4C"]} if "P4C" in os.environ else {}
    done = report(ROOT / "p4src" / "tna" / "ecn_dual.p4", "--json", **own)
    assert done.returncode == 0, done.stderr + done.stdout
    first, second = json.loads(done.stdout)
    assert (first["pipes"][0]["stages"], second["pipes"][0]["stages"]) == (12, 20)
    for one in (first, second):
        (pipe,) = one["pipes"]
        assert 0 < pipe["free_stages"] < pipe["stages"]
        assert 0 < pipe["memories"]["sram"]["used"] < pipe["memories"]["sram"]["available"]
        assert pipe["directions"]["ingress"]["parser_rows"] > 3
        assert sum(group["bits"] for group in pipe["phv"]) > 100
