"""`d3` and `rcp`: rates that a switch writes into requests (docs/algorithms/d3-rcp.md#d3-switch, #rcp)."""

from finsy import Action, Match, P4TableEntry

from controller.d3 import reciprocals
from p4cc.wire import FairRate, P4cc, RateRequest
from ptf_tests.base import OUT, SwitchTest

CAPACITY_KBPS = 1_000_000
BASE_KBPS = 500
FLOWS = 8
# Epochs of 2^47 units of time: none ends within a test.
EPOCH_SHIFT = 47
EPOCH_VALID = 0x8000


class D3Test(SwitchTest):
    program = "d3"
    action = "egress.allocator.set_port"

    def prepare(self):
        if self.arch == "tna":
            self.skipTest("the switch allots nothing: D3StampsByRounds")
        self.route()
        self.insert_by_port(
            "egress.allocator.ports",
            self.action,
            rate=CAPACITY_KBPS,
            least=BASE_KBPS,
            shift=EPOCH_SHIFT,
        )
        self.control.write(
            *(
                +P4TableEntry(
                    "egress.allocator.rule.reciprocals",
                    match=Match(flows=flows),
                    action=Action("egress.allocator.rule.set_reciprocal", value=value),
                )
                for flows, value in enumerate(reciprocals(FLOWS), 1)
            )
        )

    def ask(self, **request):
        """The first hop's record and the flags of an answered request."""
        self.send(self.packet(payload_bytes=0, extension=RateRequest(**request)))
        answer = self.receive(OUT)[P4cc].payload
        self.assertIsInstance(answer, RateRequest)
        self.assertEqual(answer.hop_index, 1)
        return answer


class D3Allocates(D3Test):
    """Deadlines first, in order of arrival, a fair share on top, the base rate when nothing is left."""

    def runTest(self):
        # One flow: what it wants and all that nobody wants, rounded down once by the reciprocal.
        first = self.ask(desired_kbps=100_000)
        self.assertEqual(first.hops[0].granted_kbps, 999_999)
        self.assertTrue(first.hops[0].epoch & EPOCH_VALID)
        # Nothing is left: the base rate, which is 0 in a record.
        second = self.ask(desired_kbps=200_000)
        self.assertEqual(second.hops[0].granted_kbps, 0)
        self.assertTrue(second.flags.base)


class D3GrantsAsPublished(D3Test):
    """By the published rule a flow gets its fair share as soon as anything is left."""

    action = "egress.allocator.set_port_as_published"

    def runTest(self):
        self.assertEqual(self.ask().hops[0].granted_kbps, 999_999)
        second = self.ask()
        self.assertEqual(second.hops[0].granted_kbps, 499_999)
        self.assertFalse(second.flags.base)


class D3TakesBack(D3Test):
    """What a request brings back is free again, and FIN gives back without a grant."""

    def runTest(self):
        first = self.ask(desired_kbps=100_000).hops[0]
        back = {"granted_before_kbps": first.granted_kbps, "epoch_before": first.epoch}
        fin = RateRequest(flags="fin", desired_before_kbps=100_000)
        for name, value in back.items():
            setattr(fin.hops[0], name, value)
        self.send(self.packet(payload_bytes=0, extension=fin))
        self.assertEqual(self.receive(OUT)[P4cc].payload.hops[0].granted_kbps, 0)
        self.assertEqual(self.ask(desired_kbps=300_000).hops[0].granted_kbps, 999_999)


class D3StampsByRounds(SwitchTest):
    """Where the controller allots: desires up to a bound and a fair share on top, until a round's capacity is used."""

    program = "d3"

    def runTest(self):
        if self.arch != "tna":
            self.skipTest("the switch allots by itself: D3Allocates")
        self.route()
        share = {"rate": CAPACITY_KBPS, "most": 900_000, "fair": 100_000}
        self.insert_by_port("egress.allocator.stamped", "egress.allocator.set_share", number=1, **share)
        for desired_kbps, granted_kbps in ((400_000, 500_000), (300_000, 400_000), (200_000, 0)):
            answer = self.ask(desired_kbps)
            self.assertEqual(answer.hops[0].granted_kbps, granted_kbps)
            self.assertEqual(answer.flags.base, granted_kbps == 0)
        change = Action("egress.allocator.set_share", number=2, **share)
        self.control.write(~P4TableEntry("egress.allocator.stamped", match=Match(egress_port=OUT), action=change))
        self.assertEqual(self.ask(2 * CAPACITY_KBPS).hops[0].granted_kbps, CAPACITY_KBPS)

    def ask(self, desired_kbps):
        """The answered request."""
        self.send(self.packet(payload_bytes=0, extension=RateRequest(desired_kbps=desired_kbps)))
        answer = self.receive(OUT)[P4cc].payload
        self.assertEqual(answer.hop_index, 1)
        return answer


class RcpStampsTheSmallest(SwitchTest):
    """The switch lowers a packet's rate to its own and never raises it."""

    program = "rcp"

    def runTest(self):
        self.route()
        own_kbps = 2_000_000
        if self.arch == "tna":
            self.insert_by_port("egress.rcp.stamped", "egress.rcp.set_rate", fair=own_kbps, framing=0)
        else:
            self.insert_by_port("egress.rcp.ports", "egress.rcp.set_fixed_rate", fixed=own_kbps, framing=0)
        for came, left in ((0xFFFFFFFF, own_kbps), (own_kbps + 1, own_kbps), (own_kbps - 1, own_kbps - 1), (0, 0)):
            self.send(self.packet(extension=FairRate(rate_kbps=came)))
            self.assertEqual(self.receive(OUT)[P4cc].payload.rate_kbps, left)
