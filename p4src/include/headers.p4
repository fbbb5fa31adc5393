// Header and scalar types shared by all programs. What the model leaves out: IPv4 options and fragments'
// later parts are not forwarded (see the parser), IPv6 and VLAN tags do not occur in these networks.
//
// A program declares its own `headers_t` of these types before it includes a parser or a control, so that it
// carries the headers that it uses and no others. Every `headers_t` has `ethernet`, `ipv4` and `l4_ports`.

#ifndef P4CC_HEADERS
#define P4CC_HEADERS

typedef bit<9> port_t;
typedef bit<48> mac_addr_t;
typedef bit<32> ipv4_addr_t;
typedef bit<19> queue_depth_t;
typedef bit<2> ecn_t;
typedef bit<2> ecn_level_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> IP_PROTOCOL_TCP = 6;
const bit<8> IP_PROTOCOL_UDP = 17;

// Congestion level of an egress queue
// (docs/algorithms/marking.md#dual-thresholds): below K, above K, above K_dc.
const ecn_level_t LEVEL_NONE = 0;
const ecn_level_t LEVEL_K = 1;
const ecn_level_t LEVEL_K_DC = 2;

header ethernet_h {
    mac_addr_t dst_addr;
    mac_addr_t src_addr;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4> version;
    bit<4> ihl;
    bit<6> dscp;
    ecn_t ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<3> flags;
    bit<13> frag_offset;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> hdr_checksum;
    ipv4_addr_t src_addr;
    ipv4_addr_t dst_addr;
}

// The first four bytes of UDP and of TCP alike: all that ECMP needs.
header l4_ports_h {
    bit<16> src_port;
    bit<16> dst_port;
}

// The parser meets an IPv4 header with options.
error { Ipv4OptionsNotSupported, Ipv4VersionWrong }

#endif
