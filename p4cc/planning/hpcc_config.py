"""`config.txt` of HPCC's ns-3 simulator as a scenario (docs/sources.md#hpcc-ns3).

A line is a key and its values; braces hold comments, as in that simulator's own explanation of the file. Every key
that changes a result becomes a field of the scenario, or is refused with its line where p4cc has nothing of the kind.
What is left over (names of output files, monitors, values that p4cc derives) is listed as a remark. Values, units and
defaults are those of `scratch/third.cc`; a key that the sender needs and whose default makes no sense is asked for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from controller.pint import MAX_LOG_BASE, MIN_LOG_BASE
from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.planning.imported import yaml_text
from p4cc.scenario.yaml import name_of
from topos import TopologyError
from topos.loaders.ns3 import host_name, read_ns3_topology, switch_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from p4cc.json_data import JsonObject
    from topos import Topology

MAX_LINES = 1_000
FLOWS_START_S = 2
"""LINK_DOWN counts from here."""
_SCALE_BPS = 25 * 10**9
"""RED thresholds and DCQCN's and HPCC's steps are given per this much of a rate."""
_TIMELY_BPS = 10 * 10**9
_BRACES = re.compile(r"\{[^{}]*\}")
_RATE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)([kMG]?)(?:b/s|bps)", re.ASCII)
_BPS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}

_SENDERS = {1: "dcqcn", 3: "hpcc", 7: "timely", 8: "dctcp_rate", 10: "hpcc_pint"}
"""Rate controls by CC_MODE."""
_PROGRAMS = {"hpcc": "int_hpcc", "hpcc_pint": "pint"}
"""Programs of senders that go by telemetry; those of the others mark."""
_ONLY = {
    "ENABLE_QCN": (1, "switches that mark nothing"),
    "ENABLE_PFC": (1, "switches without PFC"),
    "USE_DYNAMIC_PFC_THRESHOLD": (1, "a fixed PFC threshold"),
    "ERROR_RATE_PER_LINK": (0, "one error rate for all links; the topology file has one for each"),
    "RATE_BOUND": (1, "windows without a bound by the rate"),
    "SAMPLE_FEEDBACK": (0, "feedback on some packets only"),
}
"""Keys of which p4cc has one value, and what any other would be."""
_NO_EFFECT = {
    **dict.fromkeys(
        ("TRACE_FILE", "TRACE_OUTPUT_FILE", "FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE", "ENABLE_TRACE"),
        "p4cc writes tables of its own",
    ),
    **dict.fromkeys(
        ("QLEN_MON_FILE", "QLEN_MON_START", "QLEN_MON_END"), "record.queue_histogram_interval_ns samples queues"
    ),
    "L2_CHUNK_SIZE": "only L2_BACK_TO_ZERO 1 reads it",
    "INT_MULTI": "p4cc derives it from each port's rate",
    "PAUSE_TIME": "its receivers ignore it",
    **dict.fromkeys(("DATA_RATE", "LINK_DELAY"), "the topology file has one for each link"),
}


@dataclass(frozen=True)
class ImportedConfig:
    """The scenario as a plain document, and remarks on keys that have no field."""

    document: JsonObject
    remarks: tuple[str, ...]

    def text(self) -> str:
        """The scenario as YAML, with the remarks as a comment."""
        left = "".join(f"\n  {remark}" for remark in self.remarks)
        comments = {
            "name": f"A configuration of HPCC's ns-3 simulator.{' Keys without a field:' if left else ''}{left}",
            "switch": "\nThat simulator marks by bytes and records bytes divided by 80.",
            "transport": "\nACKs share the queue of data, as in that simulator's switches.",
            "stop_ns": "\nThe simulator's own end: flows of its files start at 2 s.",
            "record": "\nSlowdowns by the formula of its scripts.",
        }
        return yaml_text(self.document, comments)


@dataclass
class _Config:
    """Keys with their values and lines; each key that was used is marked."""

    file: Path
    values: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    used: set[str] = field(default_factory=set[str])

    def fail(self, key: str, cause: str, remedy: str) -> NoReturn:
        """Raises UserError at the line of a key."""
        line = self.lines.get(key)
        raise UserError(cause, place=f"{self.file}:{line}" if line else str(self.file), remedy=remedy)

    def words(self, key: str) -> list[str] | None:
        """The values of a key; None where the file does not have it."""
        self.used.add(key)
        return self.values.get(key)

    def word(self, key: str) -> str:
        """The one value of a key; raises UserError."""
        words = self.words(key)
        if words is None or len(words) != 1:
            self.fail(key, f"{key} needs one value", f"write {key} VALUE")
        return words[0]

    def number(self, key: str, default: str | None = None) -> Decimal:
        """The one value of a key as a number; raises UserError."""
        word = default if default is not None and key not in self.values else self.word(key)
        self.used.add(key)
        return self.decimal(key, word)

    def decimal(self, key: str, word: str) -> Decimal:
        """A word of a key as a number from 0 on; raises UserError."""
        try:
            value = Decimal(word)
        except InvalidOperation:
            value = Decimal("nan")
        if not value.is_finite() or not 0 <= value < 10**15:
            self.fail(key, f"{key} is {word[:40]!r}", "give a number from 0 on")
        return value

    def mbps(self, key: str) -> float:
        """The one value of a key as a rate in Mbit/s; raises UserError."""
        match = _RATE.fullmatch(self.word(key))
        if match is None:
            self.fail(key, f"{key} is {self.word(key)[:40]!r}", "give a rate, such as 50Mb/s")
        return float(Decimal(match[1]) * _BPS[match[2]] / 10**6)

    def by_rate(self, key: str) -> dict[int, Decimal]:
        """A map of that simulator: the number of entries, then a rate in bit/s and a value for each."""
        words = self.words(key) or []
        if len(words) < 3 or int(self.decimal(key, words[0])) * 2 + 1 != len(words):
            self.fail(key, f"{key} is not a map by rate", f"write {key} COUNT RATE VALUE RATE VALUE ...")
        pairs = zip(words[1::2], words[2::2], strict=True)
        return {int(self.decimal(key, rate)): self.decimal(key, value) for rate, value in pairs}


def import_config(file: Path, place: Callable[[Path], str]) -> ImportedConfig:
    """The scenario of a `config.txt`; `place` says how it names files. Raises UserError with the line at fault."""
    config = _read(file)
    topology_file, flow_file = (_input(config, key) for key in ("TOPOLOGY_FILE", "FLOW_FILE"))
    try:
        topology = read_ns3_topology(read_text(topology_file, "topology"), str(topology_file))
    except TopologyError as error:
        raise UserError(str(error), place=str(topology_file), remedy="correct the topology file") from error
    for key, (value, what) in _ONLY.items():
        if config.number(key, default=str(value)) != value:
            config.fail(key, f"{key} {config.word(key)} is not modelled: {what}", f"set {key} {value}")
    nic_bps = _nic_rate(config, topology)
    sender = _sender(config, nic_bps)
    pint, shared = _pint(config) if sender["name"] == "hpcc_pint" else ({}, {})
    payload = int(config.number("PACKET_PAYLOAD_SIZE", default="1000"))
    document: JsonObject = {
        "name": name_of(file.with_suffix(".yaml")),
        "title": f"{file.name} of HPCC's ns-3 simulator",
        "topology": {"kind": "ns3", "file": place(topology_file)},
        "switch": {
            "program": f"p4src/v1model/{_PROGRAMS.get(sender['name'], 'ecn_red')}.p4",
            "ecn_profile": "rfc3168",
            "timestamp_unit": "ns",
            "qdepth_unit": "bytes_80B",
            "red": _red(config, topology),
            "buffer": {
                "bytes": int(config.number("BUFFER_SIZE", default="16") * (1 << 20)),
                "lossless_priorities": [3],
                "headroom_rule": "hpcc_ns3",
                "alpha_log2": -3,
            },
            **pint,
        },
        "traffic": {"kind": "ns3", "name": "ns3", "file": place(flow_file)},
        "transport": {
            "kind": "rdma",
            "mss_bytes": payload,
            "ack_every": max(1, -(-int(config.number("L2_ACK_INTERVAL", default="1")) // max(1, payload))),
            **_recovery(config),
            "ack_class": 3,
            **shared,
            **({} if config.number("GLOBAL_T", default="1") else {"base_rtt": "pair"}),
        },
        "variants": [{"name": sender["name"], "rate_control": sender}],
        **_faults(config, topology),
        "seeds": [1],
        "stop_ns": int(config.number("SIMULATOR_STOP_TIME") * 10**9),
        "record": {
            "ideal_fct": "hpcc_ns3",
            "windows_interval_ns": None,
            "queues_interval_ns": None,
            "slowdown_by_size": True,
        },
        "limits": {"max_events": 100_000_000_000},
    }
    return ImportedConfig(document, _remarks(config))


def _read(file: Path) -> _Config:
    config = _Config(file)
    for number, line in enumerate(read_text(file, "configuration").splitlines(), start=1):
        key, *values = _BRACES.sub(" ", line).split() or [""]
        if not key:
            continue
        if len(config.values) == MAX_LINES:
            raise UserError(f"the file has more than {MAX_LINES} keys", place=f"{file}:{number}", remedy="give fewer")
        if key in config.values:
            raise UserError(f"{key} is given twice", place=f"{file}:{number}", remedy="remove one of the two")
        config.values[key], config.lines[key] = values, number
    if "TOPOLOGY_FILE" not in config.values or "FLOW_FILE" not in config.values:
        raise UserError(
            "is not a configuration of HPCC's ns-3 simulator: TOPOLOGY_FILE or FLOW_FILE is missing",
            place=str(file),
            remedy="give its config.txt",
        )
    return config


def _input(config: _Config, key: str) -> Path:
    """A file that the configuration names, from the simulator's folder, in which it lies one folder down."""
    name = config.word(key)
    tried = [folder / name for folder in (config.file.parent, config.file.resolve().parent.parent, Path.cwd())]
    found = next((path for path in tried if path.is_file()), None)
    if found is None:
        config.fail(key, f"no file {name!r}", f"searched {', '.join(map(str, dict.fromkeys(tried)))}")
    return found


def _nic_rate(config: _Config, topology: Topology) -> int:
    """Rate of the hosts' links, from which that simulator's steps are absolute and ours relative."""
    hosts = set(topology.host_names)
    rates = {link.rate_bps for link in topology.links if {link.a, link.b} & hosts}
    if len(rates) != 1:
        cause = f"hosts have links of {len(rates)} rates, and RATE_AI is one step for all"
        config.fail("RATE_AI", cause, "give all hosts one rate")
    return rates.pop()


def _sender(config: _Config, nic_bps: int) -> dict[str, Any]:
    """The rate control with its parameters."""
    mode = int(config.number("CC_MODE"))
    name = _SENDERS.get(mode)
    if name is None:
        known = ", ".join(f"{number} ({known})" for number, known in _SENDERS.items())
        config.fail("CC_MODE", f"CC_MODE {mode} is not modelled", f"modes: {known}")
    sender = {"name": name, **_PARAMETERS[name](config, nic_bps), "r_min_mbps": config.mbps("MIN_RATE")}
    windows = (int(config.number("HAS_WIN", default="1")), int(config.number("VAR_WIN", default="0")))
    if windows == (1, 0) or (name in _PROGRAMS and windows != (1, 1)):
        config.fail(
            "VAR_WIN", f"{name} with HAS_WIN {windows[0]} and VAR_WIN {windows[1]} is not modelled", "set both to 1"
        )
    if name not in _PROGRAMS:
        sender["window"] = "vwin" if windows == (1, 1) else "none"
    return sender


def _hpcc_pint(config: _Config, nic_bps: int) -> dict[str, Any]:
    return {
        "eta": float(config.number("U_TARGET", default="0.95")),
        "max_stage": int(config.number("MI_THRESH", default="5")),
        "ai_mbps": config.mbps("RATE_AI") * _SCALE_BPS / nic_bps,
    }


def _pint(config: _Config) -> tuple[dict[str, Any], dict[str, Any]]:
    """PINT's fields of the switches and of the transport; its defaults are that simulator's."""
    base, share = config.number("PINT_LOG_BASE", default="1.05"), config.number("PINT_PROB", default="1")
    if not MIN_LOG_BASE <= float(base) <= MAX_LOG_BASE:
        cause = f"PINT_LOG_BASE {base} is not between {MIN_LOG_BASE} and {MAX_LOG_BASE:g}"
        config.fail("PINT_LOG_BASE", cause, "set PINT_LOG_BASE 1.05, the smallest whose powers fit a byte")
    if not Decimal("1e-6") <= share <= 1:
        config.fail("PINT_PROB", f"PINT_PROB {share} is not a share of packets", "give a number from 0.000001 to 1")
    return {"pint": {"log_base": float(base)}}, {"pint_share": float(share)}


def _hpcc(config: _Config, nic_bps: int) -> dict[str, Any]:
    return {
        **_hpcc_pint(config, nic_bps),
        "reaction": "ack" if config.number("FAST_REACT", default="1") else "rtt",
        "multi_rate": "on" if config.number("MULTI_RATE", default="1") else "off",
    }


def _dcqcn(config: _Config, nic_bps: int) -> dict[str, Any]:
    return {
        "alpha_timer_ns": int(config.number("ALPHA_RESUME_INTERVAL") * 1_000),
        "decrease_timer_ns": int(config.number("RATE_DECREASE_INTERVAL") * 1_000),
        "increase_timer_ns": int(config.number("RP_TIMER") * 1_000),
        "g": float(config.number("EWMA_GAIN")),
        "f": int(config.number("FAST_RECOVERY_TIMES")),
        "ai_mbps": config.mbps("RATE_AI") * _SCALE_BPS / nic_bps,
        "hai_mbps": config.mbps("RATE_HAI") * _SCALE_BPS / nic_bps,
        "clamp_target": "on" if config.number("CLAMP_TARGET_RATE", default="0") else "off",
    }


def _timely(config: _Config, nic_bps: int) -> dict[str, Any]:
    step, leap = config.mbps("RATE_AI"), config.mbps("RATE_HAI")
    if step == 0:
        config.fail("RATE_AI", "RATE_AI is 0", "give TIMELY a step")
    # docs/algorithms/timely.md#timely-parameters, its column of HPCC's ns-3 simulator.
    return {
        "ewma": 0.875,
        "update": "window",
        "hai_counts": "every",
        "delta_mbps": step * _TIMELY_BPS / nic_bps,
        "hai_factor": leap / step,
    }


def _dctcp(config: _Config, nic_bps: int) -> dict[str, Any]:
    del nic_bps
    return {"g": float(config.number("EWMA_GAIN")), "ai_mbps": config.mbps("DCTCP_RATE_AI")}


_PARAMETERS: dict[str, Callable[[_Config, int], dict[str, Any]]] = {
    "dcqcn": _dcqcn,
    "hpcc": _hpcc,
    "hpcc_pint": _hpcc_pint,
    "timely": _timely,
    "dctcp_rate": _dctcp,
}
_OF_OTHERS = frozenset(
    (
        *("ALPHA_RESUME_INTERVAL", "RATE_DECREASE_INTERVAL", "CLAMP_TARGET_RATE", "RP_TIMER", "EWMA_GAIN"),
        *("FAST_RECOVERY_TIMES", "RATE_AI", "RATE_HAI", "DCTCP_RATE_AI"),
        *("FAST_REACT", "U_TARGET", "MI_THRESH", "MULTI_RATE", "PINT_LOG_BASE", "PINT_PROB"),
    )
)
"""Parameters of one sender, which the others do not read."""


def _red(config: _Config, topology: Topology) -> dict[str, Any]:
    """The marking curve: thresholds in units of 1,000 bytes for each rate of a link."""
    maps = [config.by_rate(key) for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP")]
    rates = sorted({link.rate_bps for link in topology.links})
    if missing := [rate for rate in rates if any(rate not in one for one in maps)]:
        config.fail("KMIN_MAP", f"the maps have no links of {missing[0]} bit/s", "add them to all three maps")
    curves = [tuple(one[rate] for one in maps) for rate in rates]
    scaled = {
        (low * _SCALE_BPS / rate, high * _SCALE_BPS / rate, p)
        for rate, (low, high, p) in zip(rates, curves, strict=True)
    }
    whole = all((value * 1_000) % 1 == 0 for low, high, _ in scaled for value in (low, high))
    if len(scaled) == 1 and whole:
        (low, high, p_max), scale = scaled.pop(), True
    elif len(set(curves)) == 1:
        (low, high, p_max), scale = curves[0], False
    else:
        cause = "thresholds that are neither equal nor proportional to the rate of a link are not modelled"
        config.fail("KMIN_MAP", cause, "give all links one rate, or the same threshold per 25 Gb/s")
    return {
        "k_min_bytes": int(low * 1_000),
        "k_max_bytes": int(high * 1_000),
        "p_max": float(p_max),
        "scale_with_rate": scale,
    }


def _recovery(config: _Config) -> dict[str, Any]:
    """Going back to the first byte of a chunk, where that simulator does."""
    if config.number("L2_BACK_TO_ZERO", default="0") == 0:
        return {}
    chunk = int(config.number("L2_CHUNK_SIZE"))
    if chunk == 0:
        config.fail("L2_CHUNK_SIZE", "L2_BACK_TO_ZERO 1 goes back to chunks of 0 bytes", "set L2_CHUNK_SIZE 4000")
    return {"recovery": "go_back_0", "message_bytes": chunk}


def _faults(config: _Config, topology: Topology) -> dict[str, Any]:
    """LINK_DOWN: microseconds after the first flows, and the two nodes; 0 for none."""
    words = config.words("LINK_DOWN") or ["0", "0", "0"]
    if len(words) != 3:
        config.fail("LINK_DOWN", "LINK_DOWN needs three values", "write LINK_DOWN MICROSECONDS NODE NODE")
    after_us, *nodes = (config.decimal("LINK_DOWN", word) for word in words)
    if any(node % 1 for node in nodes):
        config.fail("LINK_DOWN", "LINK_DOWN names a fraction of a node", "write LINK_DOWN MICROSECONDS NODE NODE")
    if after_us == 0:
        return {}
    switches = set(topology.switch_names)
    names = [switch_name(int(node)) if switch_name(int(node)) in switches else host_name(int(node)) for node in nodes]
    if not any({link.a, link.b} == set(names) for link in topology.links):
        config.fail("LINK_DOWN", f"no link joins nodes {words[1]} and {words[2]}", "name the ends of a link")
    return {"faults": [{"between": names, "down_ns": int(FLOWS_START_S * 10**9 + after_us * 1_000)}]}


def _remarks(config: _Config) -> tuple[str, ...]:
    """What is not in the scenario, key by key; raises UserError for a key that nobody knows."""
    remarks: list[str] = []
    unknown: list[str] = []
    if config.number("ACK_HIGH_PRIO", default="0") != 0:
        remarks.append(
            "ACK_HIGH_PRIO 1: hosts there send ACKs from a queue that PFC never pauses; here, as in its switches, ACKs "
            "share the queue of data"
        )
    for key, values in config.values.items():
        if key in config.used:
            continue
        text = " ".join((key, *values))
        if key in _NO_EFFECT:
            remarks.append(f"{text}: {_NO_EFFECT[key]}")
        elif key in _OF_OTHERS:
            remarks.append(f"{text}: not read by this CC_MODE")
        else:
            unknown.append(key)
    if unknown:
        more = f" and {len(unknown) - 1} more keys" if unknown[1:] else ""
        cause = (
            f"{unknown[0]}{more} are not keys of HPCC's simulator"
            if unknown[1:]
            else f"{unknown[0]} is not a key of HPCC's simulator"
        )
        config.fail(unknown[0], cause, "remove what its descendants added, or write the scenario by hand")
    return tuple(remarks)
