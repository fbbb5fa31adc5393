"""Cheetah's registers, as its own script of the switch fills them: two servers, cookies 0 to 9 on a stack."""

from __future__ import annotations

import finsy as fy

import p4cc

_COOKIES = 10
_SERVERS = 2


class Cheetah(p4cc.Controller):
    """Writes the registers once; tables are entries of the scenario."""

    async def start(self) -> None:
        cells = [("table_size_reg", 0, _SERVERS), ("test_reg", 0, _SERVERS - 1), ("stack_head", 0, _COOKIES - 1)]
        cells += [("cookie_stack_reg", cookie, cookie) for cookie in range(_COOKIES)]
        await self.switches["s1"].modify(
            [fy.P4RegisterEntry(name, index=index, data=value) for name, index, value in cells]
        )
