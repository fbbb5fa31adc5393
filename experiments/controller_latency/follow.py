"""A marking threshold that follows the load: high for a few flows, low for many."""

import finsy as fy

import p4cc

LEVELS = 4
"""Cells of the counter `level_packets` for each port."""


class Follow(p4cc.Controller):
    """Counts the senders that the aggregator answers to, and sets K_dc of its port by their number.

    A sender is active that was sent at least `least_pkts` packets, ACKs or requests, in the last `interval_ns`. The
    threshold falls as soon as more than `few_senders` are, and rises when they were fewer for `patience` intervals.
    """

    def __init__(
        self,
        interval_ns: int = 200_000,
        least_pkts: int = 2,
        few_senders: int = 4,
        patience: int = 3,
        few_k_dc_pkts: int = 60,
        many_k_dc_pkts: int = 16,
    ) -> None:
        self.interval_ns = interval_ns
        self.least_pkts = least_pkts
        self.few_senders = few_senders
        self.patience = patience
        self.few_k_dc_pkts = few_k_dc_pkts
        self.many_k_dc_pkts = many_k_dc_pkts
        self.k_dc_pkts = few_k_dc_pkts
        self.sent_pkts: dict[int, int] = {}
        self.quiet = 0

    async def start(self) -> None:
        """Asks to be called every interval."""
        self.bottleneck = self.topology.port_to("s1", "aggregator").number
        self.senders = [port.number for port in self.topology.ports["s1"] if port.number != self.bottleneck]
        self.every(self.interval_ns, self.adjust)

    async def adjust(self) -> None:
        """Writes the threshold for the number of active senders, if it is another one."""
        active = await self.active_senders()
        self.quiet = 0 if active > self.few_senders else self.quiet + 1
        if self.quiet == 0:
            k_dc_pkts = self.many_k_dc_pkts
        elif self.quiet >= self.patience:
            k_dc_pkts = self.few_k_dc_pkts
        else:
            return
        if k_dc_pkts != self.k_dc_pkts:
            self.k_dc_pkts = k_dc_pkts
            await self.set_threshold(k_dc_pkts)

    async def active_senders(self) -> int:
        """How many senders were sent packets in the last interval."""
        cells = [fy.P4CounterEntry("level_packets", index=port * LEVELS) for port in self.senders]
        sent_pkts = {cell.index: cell.packet_count async for cell in self.switches["s1"].read(cells)}
        before, self.sent_pkts = self.sent_pkts, sent_pkts
        return sum(count - before.get(index, 0) >= self.least_pkts for index, count in sent_pkts.items())

    async def set_threshold(self, k_dc_pkts: int) -> None:
        """Asks for a threshold; it is there when the controller's latency is over."""
        switch = self.switches["s1"]
        self.record("k_dc_pkts", k_dc_pkts, switch)
        thresholds = fy.P4TableEntry(
            "thresholds",
            match=fy.P4TableMatch(egress_port=self.bottleneck),
            action=fy.P4TableAction("set_thresholds", k=1, k_dc=k_dc_pkts),
        )
        await switch.modify([thresholds])
