"""Files that a scenario names, with their text changed: each is read, or refused with place and cause."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.planning.capture import read_capture
from p4cc.planning.cdf_file import read_cdf, read_gap_cdf
from p4cc.planning.chakra import read_chakra, read_groups
from p4cc.planning.coflows import read_coflows
from p4cc.planning.flow_table import read_flow_table
from p4cc.planning.foreign import import_foreign
from p4cc.planning.goal import read_goal
from p4cc.planning.htsim_flows import read_connection_matrix
from p4cc.planning.ns3_flows import read_ns3_flows, read_ns3_paths
from p4cc.planning.pair_matrix import gap_description, read_matrix, size_description
from p4cc.planning.simai_workload import read_simai_workload
from tests.p4cc.planning.chakra_traces import trace
from topos import TopologyError
from topos.loaders.htsim import read_htsim_topology
from topos.loaders.imported import load_lab
from topos.loaders.ns3 import read_ns3_topology
from topos.loaders.reading import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

CDF = b"# bytes percent\n0 0\n1000 15\n20000 60.5\n3e5 100\n"
PCAP = bytes.fromhex("d4c3b2a1020004000000000000000000ffff00000100000000000000010000000400000004000000") + b"abcd"
LAB = (
    b'{"hosts": {"h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11"}, "h2": {"ip": "10.0.2.2/24", "mac": '
    b'"08:00:00:00:02:22"}}, "switches": {"s1": {}}, "links": [["h1", "s1-p1", "5ms", 10], ["h2", "s1-p2"]]}'
)
TOPO = (
    b"Nodes 8\nTiers 3\nPodsize 4\nTier 0\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 2\n"
    b"Downlink_Latency_ns 1000\nTier 1\nDownlink_speed_Gbps 200\nRadix_Down 2\nRadix_Up 4\n"
    b"Downlink_Latency_ns 1000\nBundle 1\nTier 2\nDownlink_speed_Gbps 100\nRadix_Down 4\n"
    b"Downlink_Latency_ns 1000\nBundle 2\n"
)
CM = b"# all\nNodes 16\nConnections 2\n0->13 id 1 start 0 size 2000000\n13->0 start 1000000 size 0\n"
TABLE = b"src,dst,size_bytes,start_ns,priority,class,deadline_ns\nh0,h1,5000,0,3,query,1000\nh1,h0,7000,10,,,\n"
TRIGGERS = (
    b"Nodes 16\nConnections 3\nTriggers 2\n0->1 id 1 start 0 size 9000 send_done_trigger 1\n"
    b"2->3 id 2 trigger 1 size 9 recv_done_trigger 2\n3->2 id 3 trigger 2 size 8\n"
    b"trigger id 1 oneshot\ntrigger id 2 barrier count 1\n"
)
GOAL = (
    b"num_ranks 2\n// two ranks\nrank 0 {\nl1: calc 900 cpu 1\nl2: send 8b to 1 tag 3 cpu 0 nic 0\nl2 requires l1\n}\n"
    b"/* the\nother */ rank 1 {\nl1: recv 8b from 0 tag 3\nl2: calc 5\nl2 irequires l1\n}\n"
)
WORKLOAD = (
    b"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 all_gpus: 4 checkpoints: 1 0 "
    b"checkpoint_initiates: 1 1\n2\nmlp -1 1000 ALLGATHER 40960 900 REDUCESCATTER 40960 800 ALLREDUCE 81920 100\n"
    b"moe -1 10 NONE 0 9 ALLTOALL_EP 4096 8 NONE 0 1\n"
)
READERS: dict[str, tuple[bytes, Callable[[Path], object]]] = {
    "cdf": (CDF, read_cdf),
    "gaps": (CDF, read_gap_cdf),
    "sizes": (CDF, size_description),
    "gap file": (CDF, gap_description),
    "flows": (b"2\n0 1 3 100 2000000000 2.0\n1 0 3 100 5000 2.001\n", read_ns3_flows),
    "paths": (b"0: 2 1 / 1 2\n1: 2 1\n", lambda path: read_ns3_paths(path, 2)),
    "topology": (
        b"4 1 3\n3\n0 3 25Gbps 0.001ms 0\n1 3 25Gbps 0.001ms 0\n2 3 100Gbps 1us 0.1\n",
        lambda path: read_ns3_topology(read_text(path), str(path)),
    ),
    "htsim topology": (TOPO, lambda path: read_htsim_topology(read_text(path), str(path))),
    "htsim flows": (CM, read_connection_matrix),
    "htsim triggers": (TRIGGERS, lambda path: read_connection_matrix(path).graph()),
    "goal": (GOAL, read_goal),
    "coflows": (b"3 2\n1 0 2 0 1 2 2:3.0 1:1.0\n7 20 1 0 1 1:2.0\n", read_coflows),
    "imported goal": (GOAL, lambda path: import_foreign(path, None, str)),
    "chakra": (b"".join(trace(0, 1)), lambda path: read_chakra([path])),
    "groups": (b'{"1": [0, 1], "2": [1]}', lambda path: read_groups(path, 2)),
    "workload": (WORKLOAD, read_simai_workload),
    "imported workload": (WORKLOAD, lambda path: import_foreign(path, None, str)),
    "flow table": (TABLE, read_flow_table),
    "imported topology": (TOPO, lambda path: import_foreign(path, None, str)),
    "imported flows": (CM, lambda path: import_foreign(path, None, str)),
    "imported table": (TABLE, lambda path: import_foreign(path, None, str)),
    "matrix": (b"h1 h2 0.5\nh2 h1 0.5\n", lambda path: read_matrix(path, ("h1", "h2"))),
    "capture": (PCAP, read_capture),
    "lab": (LAB, load_lab),
}
WORDS = (
    *(b"", b" ", b"\n", b"\0", b"\xff", b"-1", b"0", b"1e999", b"1e-999", b"nan", b"inf", b"9" * 5_000, b"0x1", b"1_0"),
    *(b"[", b"{", b'"', b"#", b"null", b"\xf0\x9f\x98\x80", "\u0663".encode(), b"25Gbps", b"1s", b"\xff\xff\xff\xff"),
    *(b"[" * 3_000, b"18446744073709551616", b"4294967296", b"-0.0"),
)


@st.composite
def changed(draw: st.DrawFn, whole: bytes) -> bytes:
    """A file with up to three stretches replaced by a word or by another stretch of it."""
    data = whole
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.integers(0, 8)))
        other = draw(st.integers(0, len(data)))
        word = draw(st.one_of(st.sampled_from(WORDS), st.just(data[other : other + 12])))
        data = data[:at] + word + data[end:]
    return data


def suffixed(name: str) -> str:
    """Imports recognise a file by its text here."""
    return "file.txt" if name.startswith("imported") else "file.json"


@pytest.mark.parametrize("name", READERS)
def test_changed_files_are_read_or_refused(name: str) -> None:
    whole, read = READERS[name]

    @settings(max_examples=80, derandomize=True, deadline=None, database=None)
    @given(changed(whole))
    def tried(data: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / suffixed(name)
            path.write_bytes(data)
            message = "read"
            try:
                read(path)
            except (UserError, TopologyError) as error:
                message = str(error).strip()
            assert message

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / suffixed(name)
        path.write_bytes(whole)
        read(path)
    tried()
