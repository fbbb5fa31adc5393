"""`p4cc init`: what it writes runs as it stands, and no file of the user's is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from p4cc.algorithms import registry
from p4cc.commands.init import kinds
from p4cc.lab.plan import LabRequest, plan_lab
from p4cc.planning.sketch import Wish, sketch
from p4cc.scenario.yaml import read_document
from tests.command_line import BARE, p4cc
from tests.p4cc.scenarios import ROOT


def test_the_templates_are_those_that_are_promised() -> None:
    assert kinds() == ["dumbbell", "fat-tree", "incast", "lab", "leaf-spine"]


@pytest.mark.parametrize("kind", kinds())
def test_every_template_runs_without_a_word_of_warning(tmp_path: Path, kind: str) -> None:
    written = p4cc("init", kind, "mine.yaml", folder=tmp_path, env=BARE)
    assert written.returncode == 0, written.stderr
    assert written.stdout.startswith("wrote mine.yaml\nnext: ")
    # One seed says as much of a template as two.
    ran = p4cc("run", "mine.yaml", "--set", "seeds=[1]", "--out", "out", "--no-cache", folder=tmp_path, env=BARE)
    assert ran.returncode == 0, ran.stderr
    assert "warning" not in ran.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["scenario"] == "mine"
    assert all(run["outcome"] == "finished" and run["goodput_bps"] > 0 for run in summary["runs"])
    said: dict[str, Any] = read_document(tmp_path / "mine.yaml").plain()
    drawn = [figure["file"] for figure in said.get("figures", [])]
    assert all((tmp_path / "out" / name).stat().st_size > 0 for name in drawn)
    assert bool(drawn) == (kind != "lab")


WISH = ("--hosts", "8", "--rate", "10G", "--load", "0.3", "--cdf", "websearch")


@pytest.mark.parametrize(
    ("senders", "transport", "algorithms"),
    [
        ("dctcp,hpcc,swift", "rdma", ["dctcp_rate", "hpcc", "swift"]),
        ("dctcp,reno", None, ["dctcp", "reno"]),
    ],
)
def test_options_become_a_scenario_that_runs_without_a_word_of_warning(
    tmp_path: Path, senders: str, transport: str | None, algorithms: list[str]
) -> None:
    written = p4cc("init", *WISH, "--senders", senders, "mine.yaml", folder=tmp_path, env=BARE)
    assert written.returncode == 0, written.stderr
    said: dict[str, Any] = read_document(tmp_path / "mine.yaml").plain()
    assert said["transport"].get("kind") == transport
    kind = "rate_control" if transport else "congestion_avoidance"
    assert [one[kind]["name"] for one in said["variants"]] == algorithms
    assert [one["name"] for one in said["variants"]] == senders.split(",")
    assert said["topology"]["leaves"] * said["topology"]["hosts_per_leaf"] == 8
    small = ("--set", "seeds=[1]", "--set", "traffic.end_ns=2ms", "--set", "measure.steady.end_ns=2ms")
    begin = ("--set", "measure.steady.start_ns=500us")
    ran = p4cc("run", "mine.yaml", *small, *begin, "--out", "out", "--no-cache", folder=tmp_path, env=BARE)
    assert ran.returncode == 0, ran.stderr
    assert "warning" not in ran.stderr
    assert (tmp_path / "out" / "slowdown.pdf").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--senders", "reno,hpcc"), "reno has a window and no paced form"),
        (("--senders", "hpc"), "did you mean 'hpcc'?"),
        (("--senders", "nscc,d3"), "count on their order"),
        (("--senders", "d3", "--rate", "400G"), "give --rate up to 134G"),
        (("--rtt", "1h"), "--rtt"),
        (("--cdf", "web-serch"), "did you mean 'websearch'?"),
        (("--hosts", "13"), "such as 12 or 14"),
        (("--load", "1.5"), "is not a load"),
        (("--rate", "8us"), "--rate"),
        (("incast", "--hosts", "8"), "options describe a scenario"),
    ],
)
def test_what_cannot_be_asked_for_is_said(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = p4cc("init", *words, folder=tmp_path, env=BARE)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("sender", [one.name for one in registry() if one.kind == "rate_control"])
def test_every_paced_sender_has_a_program_that_serves_it(sender: str) -> None:
    data = yaml.safe_load(sketch(Wish(hosts=8, senders=sender), "one"))
    if sender == "fixed":
        return
    assert (ROOT / data["variants"][0]["program"]).is_file()


def test_the_lab_can_be_planned(tmp_path: Path) -> None:
    done = p4cc("init", "lab", folder=tmp_path, env=BARE)
    assert done.stdout.endswith("p4cc lab lab.yaml\n")
    assert "next: sudo " in done.stdout
    plan = plan_lab(LabRequest(file=str(tmp_path / "lab.yaml"), is_import=False))
    assert [host.name for host in plan.network.hosts] == [*(f"h{number}" for number in range(1, 9)), "aggregator"]
    assert plan.warnings == ("the lab is that of DCTCP; --variant and --set choose another",)
    # Results of a run go beside the folder of labs, not into it.
    assert plan.case is not None
    assert plan.case.scenario.name != "lab"


def test_a_file_is_replaced_only_where_that_is_said(tmp_path: Path) -> None:
    mine = tmp_path / "incast.yaml"
    mine.write_text("mine", encoding="utf-8")
    refused = p4cc("init", "incast", folder=tmp_path, env=BARE)
    assert refused.returncode == 2
    assert "incast.yaml" in refused.stderr
    assert "--force" in refused.stderr
    assert mine.read_text(encoding="utf-8") == "mine"
    assert p4cc("init", "incast", "--force", folder=tmp_path, env=BARE).returncode == 0
    assert "kind: incast" in mine.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("leaf_spine",), "did you mean 'leaf-spine'?"),
        (("ring",), "scenarios: dumbbell, fat-tree, incast, lab, leaf-spine"),
        (("incast", "."), "cannot write"),
        (("incast", "absent/mine.yaml"), "name a file in a folder that exists"),
        (("incast", ".", "--force"), "cannot write"),
    ],
)
def test_what_cannot_be_written_is_said(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = p4cc("init", *words, folder=tmp_path, env=BARE)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_without_a_name_all_are_listed(tmp_path: Path) -> None:
    listed = p4cc("init", folder=tmp_path, env=BARE).stdout
    assert [line.split()[0] for line in listed.splitlines()[:5]] == kinds()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("file", "name"), [("My Fabric.yaml", "my-fabric"), ("ü.yaml", "scenario"), (f"{'x' * 80}.yaml", "x" * 64)]
)
def test_the_scenario_is_named_after_its_file(tmp_path: Path, file: str, name: str) -> None:
    assert p4cc("init", "incast", file, folder=tmp_path, env=BARE).returncode == 0
    assert read_document(tmp_path / file).plain()["name"] == name
