"""Headers of the user's program in data packets of flows, and what is kept of their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, model_validator

from p4cc.scenario.base import Model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Name = Annotated[str, Field(min_length=1, max_length=256)]
Value = Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] | Annotated[str, Field(min_length=1, max_length=640)]
"""A number, an address, or a name of the network's such as `h2.mac` or `port(s1, h2)`."""


class Announcement(Model):
    """What the layer in front says, so that a parser knows that the headers follow; exactly one of these."""

    ethertype: Annotated[int, Field(ge=0, lt=1 << 16)] | None = Field(default=None, description="Behind Ethernet.")
    protocol: Annotated[int, Field(ge=0, lt=1 << 8)] | None = Field(
        default=None, description="Behind IPv4: its protocol number."
    )
    ihl: bool = Field(default=False, description="Behind IPv4: they are options of it, which its length counts.")
    udp_port: Annotated[int, Field(ge=0, lt=1 << 16)] | None = Field(
        default=None, description="Behind UDP: the destination port."
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
    """A header, or a stack of it, that data packets of all flows carry; the fields are those of the P4 source."""

    type: Name
    """Its type in the program: `mri_t`."""
    after: Literal["ethernet", "ipv4", "udp"] | None = Field(
        default=None, description="The layer that it stands behind; behind the header before it if absent."
    )
    values: dict[Name, Value] = Field(
        default={}, max_length=256, description="Values of fields as senders write them; 0 if absent."
    )
    count: Name | None = Field(
        default=None,
        description="The field that says how often it stands there, of a header before it: `mri_t.count`. Once if "
        "absent.",
    )
    announce: Announcement | None = Field(
        default=None, description="What the layer in front says of it; the first header has it for all."
    )
    echo: bool = Field(
        default=False, description="Whether receivers echo the headers in ACKs; the first header says it for all."
    )


UserHeaders = Annotated[list[OwnHeader], Field(max_length=16)]


class HeadersRecord(Model):
    """What is kept of the fields of the user's headers that arrive (`transport.headers`)."""

    every: Annotated[int, Field(ge=1, le=1 << 40)] = 1
    """One of so many packets with headers is kept, at each host."""
    max_packets: Annotated[int, Field(ge=1, le=10_000_000)] = Field(
        default=100_000, description="Packets of each host that are kept; `rows_left_out` counts later ones."
    )


def problems(headers: Sequence[OwnHeader]) -> Iterator[tuple[int, str, str, str]]:
    """What is wrong among headers: place, field, cause and remedy."""
    for number, header in enumerate(headers):
        if number > 0:
            for field, given in (("after", header.after), ("announce", header.announce), ("echo", header.echo or None)):
                if given is not None:
                    yield number, field, "the headers stand together", f"say {field} in the first header"
        elif header.after is None:
            yield number, "after", "the first header stands behind a layer", "give ethernet, ipv4 or udp"
        elif header.announce is None or header.announce.places() != {header.after}:
            wanted = {"ethernet": "ethertype", "ipv4": "protocol, or ihl: true", "udp": "udp_port"}[header.after]
            yield number, "announce", f"nothing tells a parser that it follows {header.after}", f"give {wanted}"
