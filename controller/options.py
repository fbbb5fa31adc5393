"""Options that several commands share: each group is a dataclass, whose fields become options of a command.

A command takes a group as a parameter; `command_of` spreads it into the options that typer sees.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from controller.defaults import DEFAULT_TIMEOUT_S
from controller.planner import KRule
from topos import GENERATORS, Topology

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
TOPOLOGY_HELP = f"A shape ({', '.join(GENERATORS)}), a JSON file (hosts, switches, links) or a scenario (YAML)."
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the shape, or a scenario's field."),
]
ElectionOption = Annotated[int, typer.Option("--election-id", min=1, help="The highest id of all controllers wins.")]


topology_readers: dict[str, Callable[[Path, Sequence[str]], Topology]] = {}
"""What reads other files than JSON as a topology, by the name's ending; `p4cc` adds scenarios."""


@dataclass(frozen=True)
class Thresholds:
    """How K and K_dc are chosen."""

    k_rule: Annotated[KRule, typer.Option(help="How K is chosen; `p4cc controller plan` shows all.")] = (
        KRule.PROPORTIONAL
    )
    k_pkts: Annotated[int | None, typer.Option(help="K in packets; goes with --k-rule fixed.")] = None
    k_dc_pkts: Annotated[int | None, typer.Option(help="K_dc in packets; by rate and buffer if not given.")] = None
    rtt_ns: Annotated[
        int | None,
        typer.Option(
            help="Base round-trip time in ns; the longest of the network, or 100000 without one, if not given."
        ),
    ] = None
    packet_bytes: Annotated[int, typer.Option(help="IP packet size in bytes, for the planner.")] = 1500


@dataclass(frozen=True)
class Shape:
    """The network."""

    topology: Annotated[str, typer.Option(help=TOPOLOGY_HELP)]
    set: SetOption = None


@dataclass(frozen=True)
class Connection:
    """Where the switches are."""

    server: Annotated[str, typer.Option(help="gRPC address of the switches, host:port.")] = "127.0.0.1:9559"
    timeout_s: Annotated[float, typer.Option(min=0.1, help="Limit for each call in seconds.")] = DEFAULT_TIMEOUT_S


@dataclass(frozen=True)
class ProgramFiles:
    """The program to push."""

    p4info: Annotated[Path, typer.Option(help="P4Info of the program, protobuf text or binary (.bin).")]
    config: Annotated[Path, typer.Option(help="Device config to push: what `p4info` was made from.")]


def command_of(function: Callable[..., None]) -> Callable[..., None]:
    """The function with its groups spread into their fields, for typer."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type[Any]] = {}
    spread: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints[name]
        if not is_dataclass(hint) or not isinstance(hint, type):
            spread.append(parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[name] = hint
        of_fields = get_type_hints(hint, include_extras=True)
        for field in fields(hint):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            kind = inspect.Parameter.KEYWORD_ONLY
            spread.append(inspect.Parameter(field.name, kind, default=default, annotation=of_fields[field.name]))

    def command(**values: Any) -> None:
        made = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        function(**made, **values)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    command.__module__ = function.__module__
    # typer reads a command's options from its signature;
    # the type checker knows no such attribute of functions.
    command.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in spread}
    return command
