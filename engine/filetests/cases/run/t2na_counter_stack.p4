// T2NA: the parser counter's stack, for options within a list of known length. Each option has a length, and that
// many bytes behind it. The deparser gives back what was counted: options, and the bytes that were left.
// Two options of two bytes and one, in six bytes: a byte for each length.
// packet 0 05 02aabb 01cc 99
// expect 1 02 00 99
// Three empty ones, then one of one byte.
// packet 0 05 00 00 00 01cc 99
// expect 1 04 00 99
// The last option is longer than the list: what is left of the list is negative.
// packet 0 03 03aabbcc 99
// expect 1 01 ff 99
// A stack of five keeps the newest four.
// packet 0 ee 010203040506
// expect 1 05 00 010203040506
#include <core.p4>
#include <t2na.p4>

header list_t {
    bit<8> length;
}

header counted_t {
    bit<8> options;
    bit<8> left;
}

struct headers_t {
    counted_t counted;
}

struct metadata_t {
    list_t list;
    list_t option;
    list_t data;
}

parser IP(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t intr) {
    ParserCounter() counter;
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(meta.list);
        hdr.counted.setValid();
        hdr.counted.options = 0;
        hdr.counted.left = 0;
        transition select(meta.list.length) {
            0xee: deep;
            default: begin;
        }
    }
    state begin {
        counter.set(meta.list.length);
        transition select(counter.is_zero()) {
            true: accept;
            false: option;
        }
    }
    state option {
        pkt.extract(meta.option);
        hdr.counted.options = hdr.counted.options + 1;
        counter.decrement(1);
        // What is left of the list goes down with what is left of the option.
        counter.push(meta.option.length, true);
        transition select(counter.is_zero()) {
            true: next;
            false: data;
        }
    }
    state data {
        pkt.extract(meta.data);
        counter.decrement(1);
        transition select(counter.is_zero()) {
            true: next;
            false: data;
        }
    }
    state next {
        counter.pop();
        transition select(counter.is_zero(), counter.is_negative()) {
            (true, false): accept;
            (false, true): below;
            (_, _): option;
        }
    }
    state below {
        hdr.counted.left = 0xff;
        transition accept;
    }
    state deep {
        counter.set(8w1);
        counter.push(8w2);
        counter.push(8w3, true);
        counter.push(8w4);
        counter.push(8w5);
        counter.push(8w6);
        // 6 and the kept 2, which is the one that follows; 1 is lost.
        counter.increment(3);
        counter.decrement(8);
        counter.decrement(1);
        transition select(counter.is_zero()) {
            true: up;
            false: accept;
        }
    }
    state up {
        hdr.counted.options = hdr.counted.options + 1;
        counter.pop();
        counter.decrement(5);
        transition select(counter.is_zero()) {
            true: up4;
            false: accept;
        }
    }
    state up4 {
        hdr.counted.options = hdr.counted.options + 1;
        counter.pop();
        counter.decrement(4);
        transition select(counter.is_zero()) {
            true: up3;
            false: accept;
        }
    }
    state up3 {
        hdr.counted.options = hdr.counted.options + 1;
        counter.pop();
        counter.decrement(3);
        transition select(counter.is_zero()) {
            true: up2;
            false: accept;
        }
    }
    state up2 {
        hdr.counted.options = hdr.counted.options + 1;
        counter.pop();
        // 2 + 3 - 8 - 1 - 5 - 4 - 3 = -16
        counter.increment(16);
        transition select(counter.is_zero()) {
            true: up1;
            false: accept;
        }
    }
    state up1 {
        hdr.counted.options = hdr.counted.options + 1;
        counter.pop();
        transition select(counter.is_zero()) {
            true: accept;
            false: below;
        }
    }
}

control I(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t intr,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) {
    apply {
        tm.ucast_egress_port = 1;
        tm.bypass_egress = 1;
    }
}

control ID(packet_out pkt, inout headers_t hdr, in metadata_t meta,
           in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}

struct none_t { }

parser EP(packet_in pkt, out none_t hdr, out none_t meta, out egress_intrinsic_metadata_t intr) {
    state start {
        pkt.extract(intr);
        transition accept;
    }
}

control E(inout none_t hdr, inout none_t meta, in egress_intrinsic_metadata_t intr,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply { }
}

control ED(packet_out pkt, inout none_t hdr, in none_t meta,
           in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { }
}

Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
