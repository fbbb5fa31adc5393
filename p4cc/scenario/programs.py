"""User settings of switches: programs by switch, the table of routes, entries."""

from __future__ import annotations

from typing import Annotated, Literal, Self, cast

from pydantic import Discriminator, Field, Tag, model_validator

from p4cc.scenario.base import Model

SwitchPattern = Annotated[str, Field(min_length=1, max_length=64, description="Switch name; * and ? are wildcards.")]
Name = Annotated[str, Field(min_length=1, max_length=256)]
FileName = Annotated[str, Field(min_length=1, max_length=4_096)]
Value = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] | Annotated[str, Field(min_length=1, max_length=640)]
"""A number, an address or digits as text, or a name from the network such as `h2.mac` or `port(s1, h2)`."""
MatchValue = Value | Annotated[list[Value], Field(min_length=2, max_length=2)]
BfrtValue = (
    bool
    | Value
    | float
    | Annotated[list[bool], Field(max_length=1 << 16)]
    | Annotated[list[Value], Field(max_length=1 << 16)]
)
"""A value of the field's type: a number, a boolean, a name such as `INGRESS`, or a list; bytes in a list as `0x` and
digits."""
Port = Annotated[int, Field(ge=0, lt=1 << 32)] | Annotated[str, Field(min_length=1, max_length=200)]
MAX_ROWS = 100_000


class ProgramSource(Model):
    """A P4 program and how it is compiled."""

    program: Annotated[FileName, Field(description="P4-16 source or BMv2 JSON; path relative to the scenario.")]
    include: list[FileName] = Field(default=[], max_length=64, description="Include directories for `#include`.")
    defines: list[Name] = Field(default=[], max_length=256, description="Preprocessor macros: NAME or NAME=VALUE.")
    p4info: FileName | None = None
    """P4Info for BMv2 JSON, with the ids that a controller uses; p4cc generates one if absent."""
    strict: Literal["course", "tofino"] | None = None
    """Rules whose violations are errors: what a chip rejects, or every warning (docs/reference/p4-support.md)."""


class SwitchProgram(ProgramSource):
    """The program of some switches, in place of the common one."""

    switch: SwitchPattern


class RouteSettings(Model):
    """The table that receives the routes, in place of the one that p4cc would detect."""

    table: Name
    """Table name in the P4Info, or the end of it: `ipv4_lpm`."""
    key: Name | None = None
    """Key field, if several are possible: `hdr.ipv4.dstAddr`."""
    action: Name
    """The action that forwards a packet to a port."""
    params: dict[
        Name,
        Literal["egress_port", "next_hop_mac", "own_mac", "host_ipv4", "host_mac"] | Annotated[int, Field(ge=0)],
    ]
    """Value of each action parameter: a value from the route, or a number."""
    by_host: bool = False
    """Whether a table with a longest-prefix match gets one entry per host; otherwise hosts share entries."""


class TableRow(Model):
    """An entry of a table, or its default action."""

    switch: SwitchPattern
    table: Name
    """Table name in the P4Info, or the end of it."""
    match: dict[Name, MatchValue] = Field(
        default={},
        description="Match values by key; two for a prefix (value, length), a mask (value, mask) or a range (low, "
        "high).",
    )
    action: Name
    """Action name in the P4Info, or the end of it; it must be an action of the table."""
    params: dict[Name, Value] = Field(default={}, description="Action parameters by name.")
    priority: Annotated[int, Field(ge=1, le=1 << 24)] | None = None
    """Required for ternary, range and optional matches; the highest priority wins."""
    default: bool = False
    """Whether this is the table's default action."""

    @model_validator(mode="after")
    def _default_has_no_key(self) -> Self:
        if self.default and (self.match or self.priority is not None):
            raise ValueError("a default action cannot have match or priority")
        return self


class MulticastRow(Model):
    """A multicast group."""

    switch: SwitchPattern
    multicast_group: Annotated[int, Field(ge=1, lt=1 << 16)]
    """Group number, which the program assigns to a packet in `mcast_grp`."""
    ports: Annotated[list[Port], Field(min_length=1, max_length=512)]
    """Destinations of the copies."""


class CloneRow(Model):
    """A clone (mirror) session."""

    switch: SwitchPattern
    clone_session: Annotated[int, Field(ge=1, lt=1 << 15)]
    """Session number, which the program passes to `clone`."""
    ports: Annotated[list[Port], Field(min_length=1, max_length=512)]
    """Destinations of the copies."""
    packet_length_bytes: Annotated[int, Field(ge=0, lt=1 << 16)] = 0
    """Length in bytes to which copies are truncated; 0 keeps them whole."""


class BfrtRow(Model):
    """A BF Runtime row of a Tofino program, for the chip's fixed tables and whatever P4Runtime cannot express."""

    switch: SwitchPattern
    bfrt: Name
    """Table name in bf-rt.json, or the end of it: `$mirror.cfg`, `pktgen.app_cfg`, `egress.red`."""
    key: dict[Name, MatchValue] = Field(
        default={},
        description="Key values by name; two for a prefix (value, length), a mask (value, mask) or a range (low, "
        "high).",
    )
    action: Name | None = None
    """Action, if the table has actions."""
    data: dict[Name, BfrtValue] = Field(
        default={}, max_length=512, description="Values by table field or action parameter."
    )
    default: bool = False
    """Whether this is the table's default entry, which has no key."""


class FileRow(Model):
    """A file of entries."""

    switch: SwitchPattern = "*"
    file: Annotated[
        FileName,
        Field(
            description="Runtime JSON of the P4 tutorials (`.json`), protobuf text of a P4Runtime WriteRequest "
            "(`.txtpb`, `.pbtxt`, `.textproto`), or commands for simple_switch_CLI (any other suffix). "
            "`{switch}` in the path is replaced by the switch's name. The path is relative to the "
            "scenario."
        ),
    ]


def _row_kind(node: object) -> str:
    """A row is recognised by its field; the table's model refuses text and other values."""
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
