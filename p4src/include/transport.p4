// The p4cc transport header and its extensions (docs/reference/wire-format.md), as far as
// switches look at them.

#ifndef P4CC_TRANSPORT
#define P4CC_TRANSPORT

#include "headers.p4"

typedef bit<3> traffic_class_t;
typedef bit<3> priority_t;
typedef bit<48> time_t;
// Rates on the wire and in registers, kbit/s: 536 Gbit/s fit 29 bits.
typedef bit<32> rate_kbps_t;

const bit<16> TRANSPORT_PORT = 52224;
const bit<4> TRANSPORT_VERSION = 1;
const bit<4> PACKET_TYPE_DATA = 0;
// Made by a switch for a packet's sender.
const bit<4> PACKET_TYPE_NOTICE = 2;

const bit<8> EXTENSION_NONE = 0;
const bit<8> EXTENSION_INT_HPCC = 1;
const bit<8> EXTENSION_INT_MD = 2;
const bit<8> EXTENSION_RATE_REQUEST = 3;
const bit<8> EXTENSION_FAIR_RATE = 6;
const bit<8> EXTENSION_INT_FIXED = 7;
const bit<8> EXTENSION_BOLT = 9;
const bit<8> EXTENSION_PINT = 11;

const bit<16> IPV4_HEADER_BYTES = 20;
// Above this a packet is not grown: far beyond any MTU, and no length field can wrap below it.
const bit<16> GROWTH_LIMIT_BYTES = 65000;

// UDP after its ports.
header udp_h {
    bit<16> length;
    bit<16> checksum;
}

header transport_h {
    bit<4> version;
    bit<4> packet_type;
    bit<8> flags;
    traffic_class_t traffic_class;
    bit<3> reserved_class;
    ecn_t ecn_echo;
    bit<8> extension_type;
    bit<32> flow_id;
    bit<32> sequence;
    bit<32> acknowledgement;
    bit<16> payload_len;
    bit<8> extension_len;
    bit<8> reserved_len;
    bit<64> timestamp;
    bit<64> timestamp_echo;
}

#endif
