"""`ecn_dual` on two ports, set up over Thrift: routes, thresholds, codepoints of the profile `rfc3168`.

Names are whole, so that BMv2 knows them too.
"""

from __future__ import annotations

from tests.switchd.namespaces import ROOT, Host
from tests.switchd.thrift_client import STRING, STRUCT, Client, i32, items, structure, text

PROGRAM = ROOT / "p4src/v1model/ecn_dual.p4"
#: Level 2 turns both capable codepoints into 11; level 1 is not used (ECN profiles, `rfc3168`).
CODEPOINTS = {(2, 0b01): 0b11, (2, 0b10): 0b11}
#: Level 1 turns 10 into 01, level 2 both into 11 (ECN profiles, `sce`).
SCE_CODEPOINTS = {(1, 0b10): 0b01, **CODEPOINTS}
#: Level 1 turns 11 into 10, level 2 both into 01 (ECN profiles, `gst`).
GST_CODEPOINTS = {(1, 0b11): 0b10, (2, 0b11): 0b01, (2, 0b10): 0b01}
LEVEL_COUNTER = "egress.ecn.level_packets"


def install(
    thrift_port: int,
    hosts: list[Host],
    k_pkts: int,
    k_dc_pkts: int | None = None,
    codepoints: dict[tuple[int, int], int] = CODEPOINTS,
) -> None:
    """Routes host n's address to port n; every port marks from `k_pkts` waiting packets on.

    From `k_dc_pkts` on it marks with level 2, which is the only level without this number.
    """
    context, no_options = i32(0), structure({})
    with Client(thrift_port) as client:
        for member, host in enumerate(hosts):
            mac = bytes.fromhex(host.mac.replace(":", ""))
            address = bytes(int(part) for part in host.ipv4.split("."))
            hop = items(STRING, [bytes([host.number]), mac])
            client.call(
                "bm_mt_act_prof_add_member",
                context,
                text("ingress.forward.ecmp"),
                text("ingress.forward.set_next_hop"),
                hop,
            )
            key = items(STRUCT, [{1: i32(1), 3: structure({1: text(address), 2: i32(32)})}])
            client.call(
                "bm_mt_indirect_add_entry", context, text("ingress.forward.ipv4_lpm"), key, i32(member), no_options
            )
            depths = [depth.to_bytes(3, "big") for depth in (k_pkts, k_dc_pkts or k_pkts)]
            key = items(STRUCT, [exact(host.number, 2)])
            both = items(STRING, depths)
            client.call(
                "bm_mt_add_entry",
                context,
                text("egress.ecn.thresholds"),
                key,
                text("egress.ecn.set_thresholds"),
                both,
                no_options,
            )
        for (level, before), after in codepoints.items():
            key = items(STRUCT, [exact(level, 1), exact(before, 1)])
            after_value = items(STRING, [bytes([after])])
            client.call(
                "bm_mt_add_entry",
                context,
                text("egress.ecn.codepoint_map"),
                key,
                text("egress.ecn.set_codepoint"),
                after_value,
                no_options,
            )


def packets_at_level(thrift_port: int, port: int, level: int) -> int:
    """How many packets left a port whose queue had this level."""
    with Client(thrift_port) as client:
        counted = client.call("bm_counter_read", i32(0), text(LEVEL_COUNTER), i32(4 * port + level))
    return counted[2]


def exact(value: int, length: int) -> dict[int, object]:
    """An exact key of so many bytes, which BMv2 counts."""
    return {1: i32(0), 2: structure({1: text(value.to_bytes(length, "big"))})}
