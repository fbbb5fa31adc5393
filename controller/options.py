"""Options that several commands share: each group is a dataclass, whose fields become options of a command.

A command takes a group as a parameter; `command_of` spreads it into the options that typer sees.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, get_type_hints

import typer

from controller.defaults import BFRT_SERVER, DEFAULT_BFRT_CLIENT_ID, DEFAULT_TIMEOUT_S, P4RUNTIME_SERVER
from controller.errors import PlanError
from controller.planner import KRule, ThresholdRule
from controller.red import SCRIPT
from topos import GENERATORS, Topology
from topos.units import UnitError, held, parse


def _number(field: str) -> Callable[[str | int], int]:
    """A reader for options of this name: a whole number, or one with a unit."""

    def read(text: str | int) -> int:
        try:
            found = parse(field, str(text))
        except UnitError as error:
            raise typer.BadParameter(str(error)) from None
        try:
            number = int(str(text).replace("_", "")) if found is None else found
        except ValueError:
            what, example = held(field) or ("a number", "1")
            raise typer.BadParameter(f"{text!r} is not a number; {field} expects {what}, such as {example}") from None
        if not isinstance(number, int):
            raise typer.BadParameter(f"{text!r} is not a whole number in the unit of {field}")
        return number

    return read


rate_bps, time_ns, packets, size_bytes = (_number(name) for name in ("rate_bps", "time_ns", "pkts", "bytes"))
"""Readers of options with these units."""

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
TOPOLOGY_HELP = f"A shape ({', '.join(GENERATORS)}), a JSON file (hosts, switches, links) or a scenario (YAML)."
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Set a parameter of the shape or a field of the scenario; repeatable."
    ),
]
ElectionOption = Annotated[
    int, typer.Option("--election-id", min=1, help="Election id; the controller with the highest id is primary.")
]
P4InfoOption = Annotated[
    Path | None, typer.Option("--p4info", help="P4Info of the program, protobuf text or binary (.bin); not with bfrt.")
]


ProgramOption = Annotated[
    Path | None, typer.Option("--program", help="P4-16 source or BMv2 JSON, instead of --p4info and --config.")
]


topology_readers: dict[str, Callable[[Path, Sequence[str]], Topology]] = {}
"""Readers of topologies in files other than JSON, by suffix; `p4cc` adds scenarios."""
compilers: list[Callable[[Path], tuple[bytes, bytes]]] = []
"""Compilers of --program to P4Info and device config; `p4cc` adds its own."""


_USUAL = ThresholdRule()


@dataclass(frozen=True)
class ThresholdOptions:
    """How K and K_dc are chosen."""

    k_rule: Annotated[KRule, typer.Option(help="Rule that chooses K; `p4cc controller plan` shows all.")] = (
        _USUAL.k_rule
    )
    k_pkts: Annotated[
        int | None, typer.Option(parser=packets, metavar="PACKETS", help="K in packets; requires --k-rule fixed.")
    ] = _USUAL.k_pkts
    k_dc_pkts: Annotated[
        int | None,
        typer.Option(parser=packets, metavar="PACKETS", help="K_dc in packets; default: by rate and buffer."),
    ] = _USUAL.k_dc_pkts
    rtt_ns: Annotated[
        int | None,
        typer.Option(
            parser=time_ns,
            metavar="TIME",
            help="Base round-trip time in ns; default: the network's longest, or 100us without a network.",
        ),
    ] = _USUAL.rtt_ns
    packet_bytes: Annotated[
        int, typer.Option(parser=size_bytes, metavar="SIZE", help="IP packet size in bytes that the planner assumes.")
    ] = 1500

    @property
    def rule(self) -> ThresholdRule:
        """The same for the planner."""
        return ThresholdRule(self.k_rule, self.k_pkts, self.k_dc_pkts, self.rtt_ns)


@dataclass(frozen=True)
class Shape:
    """The network."""

    topology: Annotated[str, typer.Option(help=TOPOLOGY_HELP)]
    set: SetOption = None


@dataclass(frozen=True)
class Curve:
    """RED's curve for programs that mark by one: DCQCN's in HPCC's experiments, unless given."""

    red_k_min_bytes: Annotated[
        int,
        typer.Option(
            parser=size_bytes,
            metavar="SIZE",
            help="RED: queue length below which no packet is marked, per 25 Gb/s of the port's rate.",
        ),
    ] = SCRIPT.k_min_bytes
    red_k_max_bytes: Annotated[
        int,
        typer.Option(
            parser=size_bytes, metavar="SIZE", help="RED: queue length above which every packet is marked, likewise."
        ),
    ] = SCRIPT.k_max_bytes
    red_p_max: Annotated[float, typer.Option(help="RED: marking probability just below --red-k-max.")] = float(
        SCRIPT.p_max
    )


class Wire(StrEnum):
    """Protocols of switches."""

    P4RUNTIME = "p4runtime"
    BFRT = "bfrt"


@dataclass(frozen=True)
class Connection:
    """Addresses and protocol of the switches."""

    server: Annotated[
        str | None,
        typer.Option(
            help=f"gRPC address of the switches, host:port; default: {P4RUNTIME_SERVER}, or {BFRT_SERVER} with bfrt."
        ),
    ] = None
    protocol: Annotated[Wire, typer.Option(help="p4runtime, or bfrt: BF Runtime, the protocol of Tofino's driver.")] = (
        Wire.P4RUNTIME
    )
    switch: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Only this switch of the topology; with bfrt, each switch has a separate address."
        ),
    ] = None
    p4_name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With bfrt: name of the program on the switch; default: that of --program, --config or --p4info.",
        ),
    ] = None
    client_id: Annotated[
        int, typer.Option(min=0, max=(1 << 24) - 1, help="With bfrt: client id; unique among the clients of a switch.")
    ] = DEFAULT_BFRT_CLIENT_ID
    timeout_s: Annotated[float, typer.Option(min=0.1, help="Timeout of each call in seconds.")] = DEFAULT_TIMEOUT_S


@dataclass(frozen=True)
class ProgramFiles:
    """The program; over BF Runtime it runs already, and its tables come from the switch."""

    program: ProgramOption = None
    p4info: P4InfoOption = None
    config: Annotated[
        Path | None, typer.Option(help="Device config to push, compiled together with the P4Info; not with bfrt.")
    ] = None


def read_file(path: Path, what: str) -> bytes:
    """Contents of a file; raises PlanError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PlanError(f"{what} {path}", error.strerror or "cannot be read", "give an existing file") from None


def command_of(function: Callable[..., None]) -> Callable[..., None]:
    """The function with each group replaced by its fields, for typer."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, tuple[Callable[..., object], list[str]]] = {}
    spread: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        if not is_dataclass(hint) or not isinstance(hint, type):
            spread.append(parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[name] = hint, [field.name for field in fields(hint)]
        of_fields = get_type_hints(hint, include_extras=True)
        for field in fields(hint):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            kind = inspect.Parameter.KEYWORD_ONLY
            spread.append(inspect.Parameter(field.name, kind, default=default, annotation=of_fields[field.name]))

    def command(**values: object) -> None:
        made = {name: group(**{field: values.pop(field) for field in names}) for name, (group, names) in groups.items()}
        function(**made, **values)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    command.__module__ = function.__module__
    # typer reads a command's options from its signature.
    setattr(command, "__signature__", inspect.Signature(spread))  # noqa: B010 - functions declare no such attribute
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return command
