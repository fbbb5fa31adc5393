"""User headers in data packets of flows, and the recording of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import Model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Name = Annotated[str, Field(min_length=1, max_length=256)]
Value = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] | Annotated[str, Field(min_length=1, max_length=640)]
"""A number, an address, or a name from the network such as `h2.mac` or `port(s1, h2)`."""


class Announcement(Model):
    """The value in the preceding layer by which a parser selects these headers; give exactly one."""

    ethertype: Annotated[int, Field(ge=0, lt=1 << 16)] | None = Field(
        default=None, description="After Ethernet: the EtherType."
    )
    protocol: Annotated[int, Field(ge=0, lt=1 << 8)] | None = Field(
        default=None, description="After IPv4: the protocol number."
    )
    ihl: bool = Field(
        default=False, description="After IPv4: whether the headers are IP options, included in the header length."
    )
    udp_port: Annotated[int, Field(ge=0, lt=1 << 16)] | None = Field(
        default=None, description="After UDP: the destination port."
    )

    def places(self) -> set[str]:
        """The layers behind which it says something."""
        behind = {"ethernet": self.ethertype, "ipv4": self.protocol, "udp": self.udp_port}
        return {layer for layer, value in behind.items() if value is not None} | ({"ipv4"} if self.ihl else set())

    @model_validator(mode="after")
    def _one(self) -> Self:
        given = (self.ethertype is not None, self.protocol is not None, self.ihl, self.udp_port is not None)
        if sum(given) != 1:
            raise ValueError("give exactly one of ethertype, protocol, ihl and udp_port")
        return self


class OwnHeader(Model):
    """A header, or a header stack, carried by data packets of all flows; its fields are those of the P4 source."""

    type: Name
    """Header type in the program: `mri_t`."""
    after: Literal["ethernet", "ipv4", "udp"] | None = Field(
        default=None, description="Preceding layer; the preceding header if absent."
    )
    values: dict[Name, Value] = Field(default={}, max_length=256, description="Initial field values; 0 if absent.")
    count: Name | None = Field(
        default=None,
        description="The field of an earlier header that counts how often this one occurs: `mri_t.count`. Once if "
        "absent.",
    )
    announce: Announcement | None = Field(
        default=None, description="How the preceding layer selects the headers; only on the first header, for all."
    )
    echo: bool = Field(
        default=False, description="Whether receivers echo the headers in ACKs; only on the first header, for all."
    )


UserHeaders = Annotated[list[OwnHeader], Field(max_length=16)]


class HeadersRecord(Model):
    """Which user-defined header fields are recorded at arrival (`transport.headers`)."""

    every: Annotated[int, Field(ge=1, le=1 << 40)] = 1
    """Sampling: one in this many packets with headers is recorded at each host."""
    max_packets: Annotated[int, Field(ge=1, le=10_000_000)] = Field(
        default=100_000, description="Maximum number of packets recorded per host; `rows_left_out` counts the rest."
    )


def problems(headers: Sequence[OwnHeader]) -> Iterator[tuple[int, str, str, str]]:
    """Errors of headers: place, field, cause and remedy."""
    for number, header in enumerate(headers):
        if number > 0:
            for field, given in (("after", header.after), ("announce", header.announce), ("echo", header.echo or None)):
                if given is not None:
                    yield (
                        number,
                        field,
                        "all headers are inserted at the same place",
                        f"give {field} only on the first header",
                    )
        elif header.after is None:
            yield number, "after", "the first header must follow a layer", "give ethernet, ipv4 or udp"
        elif header.announce is None or header.announce.places() != {header.after}:
            wanted = {"ethernet": "ethertype", "ipv4": "protocol, or ihl: true", "udp": "udp_port"}[header.after]
            yield number, "announce", f"a parser cannot recognise a header after {header.after}", f"give {wanted}"
