// IPv4 longest-prefix forwarding with ECMP groups: chooses
// the port, rewrites the addresses, counts down the TTL.
//
// Needs the architecture's objects (`adaptors/ecmp.p4` for v1model) and
// the program's `headers_t`, which the top program brings in.

#ifndef P4CC_FORWARD
#define P4CC_FORWARD

#include "../include/headers.p4"
#include "../include/sizes.p4"
#include "../adaptors/ecmp.p4"

control Forward(inout headers_t hdr, inout port_t egress_spec, out bool drop) {
    // A group's member follows from the five-tuple, so that a flow stays on one path.
    ECMP_SELECTOR(ecmp);

    EcmpSalt() ecmp_salt;

    // Sets switches apart that would choose alike.
    bit<32> seed = 0;
    bit<16> salt = 0;

    action set_seed(bit<32> factor) {
        seed = factor;
    }

    // The switch's own odd factor (docs/algorithms/README.md#p4-needs,
    // docs/algorithms/topologies.md#topologies); without one a group's
    // member follows from the five-tuple alone.
    @p4cc_role("forward.ecmp_seeds")
    table ecmp_seeds {
        key = {
            hdr.ethernet.ether_type: exact;
        }
        actions = {
            set_seed;
            NoAction;
        }
        default_action = NoAction;
        size = ECMP_SEED_SIZE;
    }

    action set_next_hop(
        @p4cc_role("egress_port") port_t port,
        @p4cc_role("next_hop_mac") mac_addr_t dst_mac
    ) {
        egress_spec = port;
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = dst_mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        drop = false;
    }

    action no_route() {
        drop = true;
    }

    @p4cc_role("forward.routes")
    table ipv4_lpm {
        key = {
            hdr.ipv4.dst_addr: lpm;
            salt: selector;
            hdr.ipv4.src_addr: selector;
            hdr.ipv4.dst_addr: selector;
            hdr.ipv4.protocol: selector;
            hdr.l4_ports.src_port: selector;
            hdr.l4_ports.dst_port: selector;
        }
        actions = {
            set_next_hop;
            no_route;
        }
        implementation = ecmp;
        size = IPV4_LPM_SIZE;
    }

    apply {
        drop = true;
        // A TTL of one ends here (RFC 1812 5.3.1); no ICMP is sent.
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) {
            ecmp_seeds.apply();
            ecmp_salt.apply(hdr, seed, salt);
            ipv4_lpm.apply();
        }
    }
}

#endif
