// Values read before they are written, fields of invalid headers, out parameters without a value.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}
struct headers_t {
    h_t one;
    h_t two;
    h_t[2] list;
}
struct pair_t {
    bit<8> x;
    bit<8> y;
}
struct meta_t {
    bit<8> m;
}

bit<8> never_set(out bit<8> r) { //~ WARN out parameter `r` may be unassigned when `never_set` ends
    return 1;
}
bit<8> set_on_one_way(out bit<8> r, in bool c) { //~ WARN out parameter `r` may be unassigned
    if (c) {
        return 1;
    }
    r = 2;
    return 3;
}
bit<8> set_on_both_ways(out bit<8> r, in bool c) {
    if (c) {
        r = 1;
    } else {
        r = 2;
    }
    return r;
}
void half_a_pair(out pair_t p) { //~ WARN `p.y` of out parameter `p` may be unassigned
    p.x = 1;
}
void out_is_read(out bit<8> r) {
    r = r + 1; //~ WARN `r` may be read before it has a value
}

parser p(packet_in packet, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    bit<8> first;
    bit<8> sum;
    state start {
        m.m = h.one.a; //~ WARN a field of `h.one` is read while the header is invalid
        packet.extract(h.one);
        first = h.one.a;
        transition select(h.one.b) {
            1: more;
            2: end;
            default: accept;
        }
    }
    state more {
        packet.extract(h.list.next);
        sum = first;
        transition select(h.list.last.b) {
            1: more;
            default: end;
        }
    }
    state end {
        m.m = first + sum; //~ WARN `sum` may be read before it has a value
        transition accept;
    }
}

control ingress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    bit<8> shared;
    bit<8> from_table;
    pair_t pair;
    h_t local;
    action reads_shared() {
        m.m = shared; //~ WARN `shared` may be read before it has a value
    }
    action sets(bit<8> v) {
        from_table = v;
    }
    action leaves() { }
    table t {
        key = { h.one.a : exact; }
        actions = { sets; leaves; }
        default_action = leaves;
    }
    table always {
        key = { h.one.a : exact; }
        actions = { sets; }
        default_action = sets(1);
    }
    apply {
        reads_shared();
        shared = 1;
        reads_shared();

        if (t.apply().hit) {
            m.m = from_table; //~ WARN `from_table` may be read
        }
        switch (t.apply().action_run) {  //~ WARN table `t` is applied at two places
            sets: { m.m = from_table; }
            default: { from_table = 0; }
        }
        m.m = from_table;

        from_table = 0;
        always.apply();
        m.m = from_table;

        pair.x = 1;
        pair_t copy = pair; //~ WARN `pair` may be read before `pair.y` has a value
        m.m = copy.y;

        local.a = 1; //~ WARN a field of `local` is written while the header is invalid
        local.setValid();
        m.m = local.b; //~ WARN `local.b` may be read before it has a value
        local = { 1, 2 };
        m.m = local.b;

        m.m = h.one.isValid() && h.one.a == 1 ? h.one.b : 8w0;
        m.m = h.one.b;
        h.two.setInvalid();
        h.two = h.one;
        m.m = h.two.b;
        h.two.setInvalid();
        if (h.one.isValid() && h.two.isValid()) {
            m.m = h.two.a;
        }
        if (m.m == 1) {
            h.two.setValid();
        }
        m.m = h.two.b; //~ WARN a field of `h.two` is read while the header may be invalid
    }
}

control egress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    bit<8> looped;
    bit<8> ranged;
    apply {
        for (bit<8> i = 0; i < 4; i = i + 1) {
            if (i == 2) {
                continue;
            }
            m.m = looped; //~ WARN `looped` may be read
            looped = i;
        }
        for (bit<8> i in 1 .. 3) {
            ranged = i;
            m.m = ranged;
            if (i == 2) {
                break;
            }
        }
        m.m = ranged; //~ WARN `ranged` may be read
    }
}

control checksum(inout headers_t h, inout meta_t m) {
    apply { }
}
control deparser(packet_out packet, in headers_t h) {
    apply {
        packet.emit(h);
    }
}
V1Switch(p(), checksum(), ingress(), egress(), checksum(), deparser()) main;
