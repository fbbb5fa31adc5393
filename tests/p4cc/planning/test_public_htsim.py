"""Files of htsim's repositories: with a copy of one (`P4CC_HTSIM`), each is read or refused for a known reason."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from p4cc.errors import UserError
from p4cc.planning.foreign import ImportOptions, import_foreign
from p4cc.planning.htsim_flows import read_connection_matrix
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.p4cc.scenarios import Ran
from topos.loaders.htsim import read_htsim_topology

FOLDER = Path(os.environ.get("P4CC_HTSIM", "nothing"))
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="P4CC_HTSIM names no copy of htsim")
REFUSED = re.compile(r"msg makes the flow one of several|promises")
TREE_OF_16 = "Nodes 16\nTiers 3\nPodsize 4\n" + "".join(
    f"Tier {tier}\nDownlink_speed_Gbps 100\nDownlink_Latency_ns 1000\nRadix_Down {down}\n{up}"
    for tier, down, up in ((0, 2, "Radix_Up 2\n"), (1, 2, "Radix_Up 2\n"), (2, 4, ""))
)


def test_every_topology_is_a_network_of_its_hosts() -> None:
    files = sorted(FOLDER.rglob("*.topo"))
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        nodes = re.search(r"(?im)^nodes (\d+)", text)
        assert nodes is not None
        assert len(read_htsim_topology(text, str(file)).hosts) == int(nodes[1])


def test_every_matrix_is_read_or_refused_for_a_known_reason() -> None:
    files = sorted(FOLDER.rglob("*.cm"))
    assert files
    for file in files:
        text = file.read_text(encoding="utf-8")
        promised = re.search(r"(?m)^Connections (\d+)", text)
        assert promised is not None
        if " msg " in text or int(promised[1]) != text.count("->"):
            with pytest.raises(UserError, match=REFUSED):
                read_connection_matrix(file)
        else:
            matrix = read_connection_matrix(file)
            assert len(matrix.flows) == text.count("->")
            assert len(matrix.graph().operations) == (len(matrix.flows) if matrix.triggers else 0)


def test_its_permutation_of_16_hosts_runs_alike_on_its_usual_tree_and_on_a_file_of_it(tmp_path: Path) -> None:
    matrix = next(FOLDER.rglob("perm_16n_16c_2MB.cm"))
    tree = tmp_path / "tree.topo"
    tree.write_text(TREE_OF_16, encoding="utf-8")
    for name, network in (("usual", None), ("file", tree)):
        path = tmp_path / f"{name}.yaml"
        path.write_text(import_foreign(matrix, ImportOptions(network), str).text(), encoding="utf-8")
        flows = Ran(run_scenario(RunRequest(path, out=tmp_path / name, figures=False))).table("flows")
        assert flows.height == 16
        # 2 MB in packets of 4,096 B take 163 us at 100 Gb/s; no two flows share a host.
        assert 165_000 < flows["fct_ns"].min() <= flows["fct_ns"].max() < 240_000  # pyright: ignore[reportOperatorIssue]
