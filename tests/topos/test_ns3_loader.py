"""Topologies in the ns-3 text format: what is read, and that no text gives anything but a network or a message."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topos import Paths, Topology, TopologyError
from topos.loaders.ns3 import read_ns3_topology

SMALL = """5 2 4
3 4
0 3 100Gbps 1000ns 0
1 3 25Gbps 0.001ms 0.000000
2 4 100Gbps 1us 0.25
3 4 400Gbps 2us 0

First line: nodes, switches, links; not read by the simulator either
"""


def test_nodes_links_rates_delays_and_losses() -> None:
    topology = read_ns3_topology(SMALL)
    assert topology.host_names == ("h0", "h1", "h2")
    assert topology.switch_names == ("s3", "s4")
    assert [(link.a, link.b, link.rate_bps, link.delay_ns, link.loss) for link in topology.links] == [
        ("h0", "s3", 100 * 10**9, 1_000, 0.0),
        ("h1", "s3", 25 * 10**9, 1_000, 0.0),
        ("h2", "s4", 100 * 10**9, 1_000, 0.25),
        ("s3", "s4", 400 * 10**9, 2_000, 0.0),
    ]
    assert [port.peer for port in topology.ports["s3"]] == ["h0", "h1", "s4"]
    assert topology.roles.senders == topology.roles.receivers == topology.host_names
    # 4 us one way; 1,000 B take 80 ns at 100 Gb/s and 20 ns at 400 Gb/s.
    assert Paths(topology).between("h0", "h2").rtt_ns(1_000) == 8_180


def test_the_example_of_the_scenario_is_two_racks_under_two_spines() -> None:
    text = (Path(__file__).parents[2] / "experiments/hpcc/ns3_topology.txt").read_text(encoding="utf-8")
    topology = read_ns3_topology(text)
    assert (len(topology.hosts), len(topology.switches), len(topology.links)) == (16, 4, 20)


@pytest.mark.parametrize(
    ("change", "line", "cause"),
    [
        (("5 2 4", "5 2 9"), 8, "the node is 'First'"),
        (("5 2 4", "5 2"), 3, "the node is '100Gbps'"),
        (("5 2 4", "99999 2 4"), 1, "the number of nodes is '99999'"),
        (("5 2 4", "5 2 99999"), 1, "the number of links is '99999'"),
        (("3 4\n0", "3 3\n0"), 2, "switch 3 is listed twice"),
        (("3 4\n0", "3 9\n0"), 2, "the switch is '9'"),
        (("0 3 100Gbps", "0 7 100Gbps"), 3, "the node is '7'"),
        (("25Gbps", "25Gb"), 4, "the rate is '25Gb'"),
        (("25Gbps", "0Gbps"), 4, "the rate is '0Gbps'"),
        (("25Gbps", "9999Tbps"), 4, "the rate is '9999Tbps'"),
        (("25Gbps", "0.1bps"), 4, "the rate is '0.1bps'"),
        (("0.001ms", "-1ms"), 4, "the delay is '-1ms'"),
        (("0.001ms", "99s"), 4, "the delay is '99s'"),
        (("0.25", "nan"), 5, "the error rate is 'nan'"),
        (("0.25", "1"), 5, "the error rate is 1"),
        (("0.25", "1e999999999"), 5, "the error rate is '1e999999999'"),
    ],
)
def test_faults_are_named_by_line(change: tuple[str, str], line: int, cause: str) -> None:
    with pytest.raises(TopologyError) as caught:
        read_ns3_topology(SMALL.replace(*change), "fat.txt")
    (problem,) = caught.value.problems
    assert problem.place == f"fat.txt:{line}"
    assert cause in problem.cause


def test_a_file_of_ns3_datacenter_has_four_counts_and_rates_without_units() -> None:
    topology = read_ns3_topology("3 1 1 2\n2\n0 2 25000000000.0 1us 0\n1 2 25000000000.0 1us 0\n")
    assert [link.rate_bps for link in topology.links] == [25 * 10**9] * 2


SIMAI = """6 2 1 1 8 A100
4 5
0 4 2880Gbps 0.000025ms 0
1 4 2880Gbps 0.000025ms 0
0 5 200Gbps 0.0005ms 0
1 5 200Gbps 0.0005ms 0
2 5 200Gbps 0.0005ms 0
3 5 200Gbps 0.0005ms 0
4 5 100Gbps 0.0005ms 0
4 5 100Gbps 0.0005ms 0
"""


def test_a_file_of_simai_is_read_without_its_nvswitches() -> None:
    for text in (SIMAI, SIMAI.replace(" A100", "")):
        topology = read_ns3_topology(text, without_nvswitches=True)
        assert topology.switch_names == ("s5",)
        assert [(link.a, link.rate_bps) for link in topology.links] == [(f"h{node}", 200 * 10**9) for node in range(4)]


def test_gpus_of_a_file_of_simai_have_a_second_link_to_their_nvswitch() -> None:
    topology = read_ns3_topology(SIMAI)
    assert [[switch for switch, _ in ends] for ends in topology.interfaces.values()] == [["s4", "s5"]] * 2 + [
        ["s5"]
    ] * 2


def test_a_text_that_ends_early_and_a_graph_that_cannot_be_are_refused() -> None:
    with pytest.raises(TopologyError, match="ends before the rate"):
        read_ns3_topology("3 1 2\n2\n0 2")
    with pytest.raises(TopologyError, match="a host has 1 to 64 links"):
        read_ns3_topology("3 1 1\n2\n0 2 1Gbps 1us 0")
    with pytest.raises(TopologyError, match="the limit is"):
        read_ns3_topology(" " * (5 << 20))


WORD = st.one_of(
    st.sampled_from(
        ("0", "1", "2", "3", "5", "1Gbps", "1us", "0.5", "-1", "1e9", "nan", "Gbps", "\x00", "\u0661", "9" * 40)
    ),
    st.text(max_size=8),
)


@given(st.lists(WORD, max_size=40).map(" ".join))
def test_no_text_gives_anything_but_a_network_or_a_message(text: str) -> None:
    with contextlib.suppress(TopologyError):
        assert isinstance(read_ns3_topology(text), Topology)


@given(st.integers(1, 6), st.integers(1, 400), st.integers(0, 5_000))
def test_what_is_written_is_read(hosts: int, rate_gbps: int, delay_ns: int) -> None:
    lines = [f"{hosts + 1} 1 {hosts}", str(hosts)]
    lines += [f"{host} {hosts} {rate_gbps}Gbps {delay_ns}ns 0" for host in range(hosts)]
    topology = read_ns3_topology("\n".join(lines))
    assert {(link.rate_bps, link.delay_ns) for link in topology.links} == {(rate_gbps * 10**9, delay_ns)}
    assert len(topology.hosts) == hosts
