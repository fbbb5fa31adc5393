// IPv4 longest-prefix forwarding with ECMP groups: chooses
// the port, rewrites the addresses, counts down the TTL.
//
// Needs the architecture's `action_selector` and `hash` and
// the program's `headers_t`, which the top program brings in.

#ifndef P4CC_FORWARD
#define P4CC_FORWARD

#include "../include/headers.p4"
#include "../include/sizes.p4"

control Forward(inout headers_t hdr, inout port_t egress_spec, out bool drop) {
    // A group's member follows from the five-tuple, so that a flow stays on one path.
    @max_group_size(ECMP_MAX_GROUP_SIZE)
    action_selector(HashAlgorithm.crc16, ECMP_SELECTOR_SIZE, ECMP_HASH_WIDTH) ecmp;

    // Switches that hash the same fields alike choose alike, so that a second
    // stage would send all that it gets one way. A CRC with a seed among its
    // fields only permutes the choice: CRCs are linear. The product is not.
    bit<32> seed = 0;
    bit<16> salt = 0;

    action set_seed(bit<32> factor) {
        seed = factor;
    }

    // The switch's own odd factor (docs/algorithms/README.md#p4-needs,
    // docs/algorithms/topologies.md#topologies); without one a group's
    // member follows from the five-tuple alone.
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

    action set_next_hop(port_t port, mac_addr_t dst_mac) {
        egress_spec = port;
        hdr.ethernet.src_addr = hdr.ethernet.dst_addr;
        hdr.ethernet.dst_addr = dst_mac;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        drop = false;
    }

    action no_route() {
        drop = true;
    }

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
            // No factor, no salt. Only a group asks for it.
            bit<32> crc;
            hash(crc, HashAlgorithm.crc32, 32w0,
                 { hdr.ipv4.src_addr, hdr.ipv4.dst_addr, hdr.ipv4.protocol, hdr.l4_ports.src_port,
                   hdr.l4_ports.dst_port },
                 64w0x100000000);
            salt = (crc * seed)[31:16];
            ipv4_lpm.apply();
        }
    }
}

#endif
