"""What switches run and hold beside p4cc's own: programs by switch, the table of routes, entries of the user's."""

from __future__ import annotations

from typing import Annotated, Literal, Self, cast

from pydantic import Discriminator, Field, Tag, model_validator

from p4cc.scenario.base import Model

SwitchPattern = Annotated[str, Field(min_length=1, max_length=64, description="A switch; * and ? are wildcards.")]
Name = Annotated[str, Field(min_length=1, max_length=256)]
FileName = Annotated[str, Field(min_length=1, max_length=4_096)]
Value = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] | Annotated[str, Field(min_length=1, max_length=640)]
"""A number, an address or digits as text, or a name of the network's such as `h2.mac` or `port(s1, h2)`."""
MatchValue = Value | Annotated[list[Value], Field(min_length=2, max_length=2)]
BfrtValue = (
    bool
    | Value
    | float
    | Annotated[list[bool], Field(max_length=1 << 16)]
    | Annotated[list[Value], Field(max_length=1 << 16)]
)
"""A value of a field's type: number, truth, name such as `INGRESS`, list; bytes of a list as `0x` and digits."""
Port = Annotated[int, Field(ge=0, lt=1 << 32)] | Annotated[str, Field(min_length=1, max_length=200)]
MAX_ROWS = 100_000


class ProgramSource(Model):
    """A P4 program and how it is compiled."""

    program: Annotated[FileName, Field(description="P4-16 source, or BMv2 JSON; relative to the scenario.")]
    include: list[FileName] = Field(default=[], max_length=64, description="Folders that `#include` looks in.")
    defines: list[Name] = Field(default=[], max_length=256, description="Macros: NAME or NAME=VALUE.")
    p4info: FileName | None = None
    """P4Info that belongs to BMv2 JSON, with the ids that a controller knows; p4cc makes its own if absent."""
    strict: Literal["tofino"] | None = None
    """A chip: what it forbids is an error (docs/reference/p4-support.md)."""


class SwitchProgram(ProgramSource):
    """The program of some switches, in place of that of all."""

    switch: SwitchPattern


class RouteSettings(Model):
    """The table of a program that routes go to, where p4cc shall not look for it."""

    table: Name
    """Its name in the P4Info, or the end of it: `ipv4_lpm`."""
    key: Name | None = None
    """Its key, where it has more than one name to choose from: `hdr.ipv4.dstAddr`."""
    action: Name
    """The action that sends a packet out of a port."""
    params: dict[
        Name,
        Literal["egress_port", "next_hop_mac", "own_mac", "host_ipv4", "host_mac"] | Annotated[int, Field(ge=0)],
    ]
    """What each of its parameters is set to: a value of the route, or a number."""
    by_host: bool = False
    """Whether each host has an entry of its own where the key is matched by prefix; else hosts share entries."""


class TableRow(Model):
    """An entry of a table, or its default action."""

    switch: SwitchPattern
    table: Name
    """Its name in the P4Info, or the end of it."""
    match: dict[Name, MatchValue] = Field(
        default={},
        description="Values by key; two for a prefix (value, length), a mask (value, mask) or a range (low, high).",
    )
    action: Name
    """Its name in the P4Info, or the end of it; one that the table has."""
    params: dict[Name, Value] = Field(default={}, description="Values by parameter.")
    priority: Annotated[int, Field(ge=1, le=1 << 24)] | None = None
    """Where keys are matched by mask, range or not at all; the highest wins."""
    default: bool = False
    """Whether it is the table's default action."""

    @model_validator(mode="after")
    def _default_has_no_key(self) -> Self:
        if self.default and (self.match or self.priority is not None):
            raise ValueError("a default action has neither match nor priority")
        return self


class MulticastRow(Model):
    """A multicast group."""

    switch: SwitchPattern
    multicast_group: Annotated[int, Field(ge=1, lt=1 << 16)]
    """Its number, which the program gives a packet in `mcast_grp`."""
    ports: Annotated[list[Port], Field(min_length=1, max_length=512)]
    """Where its copies go."""


class CloneRow(Model):
    """A clone (mirror) session."""

    switch: SwitchPattern
    clone_session: Annotated[int, Field(ge=1, lt=1 << 15)]
    """Its number, which the program gives to `clone`."""
    ports: Annotated[list[Port], Field(min_length=1, max_length=512)]
    """Where its copies go."""
    packet_length_bytes: Annotated[int, Field(ge=0, lt=1 << 16)] = 0
    """Length that copies are cut to; 0 leaves them whole."""


class BfrtRow(Model):
    """A row of a Tofino program over BF Runtime: of the chip's own tables, or what P4Runtime has no request for."""

    switch: SwitchPattern
    bfrt: Name
    """The table as bf-rt.json names it, or the end of it: `$mirror.cfg`, `pktgen.app_cfg`, `egress.red`."""
    key: dict[Name, MatchValue] = Field(
        default={},
        description="Values by key; two for a prefix (value, length), a mask (value, mask) or a range (low, high).",
    )
    action: Name | None = None
    """Its action, where the table has actions."""
    data: dict[Name, BfrtValue] = Field(
        default={}, max_length=512, description="Values by field of the table or parameter of the action."
    )
    default: bool = False
    """Whether it is the table's default entry, which has no key."""


class FileRow(Model):
    """A file of entries."""

    switch: SwitchPattern = "*"
    file: Annotated[
        FileName,
        Field(
            description="Runtime JSON of the P4 tutorials (`.json`), protobuf text of a P4Runtime WriteRequest "
            "(`.txtpb`, `.pbtxt`, `.textproto`), or commands of simple_switch_CLI (any other); `{switch}` in it "
            "stands for the switch's name. Relative to the scenario."
        ),
    ]


def _row_kind(node: object) -> str:
    """A row is told by its field; text and the like are for the table's model to refuse."""
    has = set(cast("dict[str, object]", node)) if isinstance(node, dict) else set(getattr(node, "__dict__", ()))
    return next((kind for kind in ("file", "multicast_group", "clone_session", "bfrt") if kind in has), "table")


Row = Annotated[
    Annotated[FileRow, Tag("file")]
    | Annotated[MulticastRow, Tag("multicast_group")]
    | Annotated[CloneRow, Tag("clone_session")]
    | Annotated[BfrtRow, Tag("bfrt")]
    | Annotated[TableRow, Tag("table")],
    Discriminator(_row_kind),
]
"""One entry, group or session, or a file of them."""
Rows = Annotated[list[Row], Field(max_length=MAX_ROWS)]
