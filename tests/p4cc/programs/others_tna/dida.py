"""What a controller of DIDA does: sources that the switch reports are dropped from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import finsy as fy

import p4cc

if TYPE_CHECKING:
    from collections.abc import Iterable


class Dida(p4cc.Controller):
    """Turns each digest into an entry of the access list."""

    async def start(self) -> None:
        self.dropped: set[tuple[int, int]] = set()
        await self.switches["s1"].insert([fy.P4DigestEntry("l2_digest", max_list_size=1)])

    async def on_digest(self, switch: fy.Switch, digest: fy.P4DigestList) -> None:
        for message in cast("Iterable[dict[str, int]]", digest):
            source = (message["src_addr"], message["src_port"])
            if source in self.dropped:
                continue
            self.dropped.add(source)
            self.record("dropped", source[0] & 0xFF, switch)
            match = fy.P4TableMatch({"hdr.ipv4.src_addr": source[0], "meta.src_port": source[1]})
            await switch.insert([fy.P4TableEntry("acl", match=match, action=fy.P4TableAction("drop"))])
