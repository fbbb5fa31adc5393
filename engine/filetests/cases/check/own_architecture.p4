// A program for an architecture of its own is checked by types; nothing here can run it.
#include <core.p4>

header h_t {
    bit<8> a;
    bit<8> b;
}
header_union u_t {
    h_t x;
    h_t y;
}
struct s_t {
    bit<8> f;
}
extern Counts {
    Counts(int size);
    void count(int index);
    void weigh<T>(T by);
}
extern T twice<T>(T x);
extern Cell<T> {
    Cell(T first);
    T read();
    void write(in T value);
}
extern Keeper<T> {
    Keeper(T first);
    abstract void keep(in T value);
    T kept();
}
extern Any {
    Any();
    void take<T>(T object);
}

control C(inout h_t h, out bit<8> y) {
    Counts(256) counts;
    // Type arguments follow from the constructor's.
    Cell(8w1) one;
    Cell(16w1) row[4];
    Cell<bit<8>>(8w2) plane[2][3];
    Any() any;
    Keeper(8w3) keeper = {
        void keep(in bit<8> value) { y = value; }
    };

    // What the control plane gives may be an argument of a parameter without direction, and of an `int`.
    action counted(bit<4> index, s_t by) {
        counts.count(index);
        counts.count(3);
        counts.weigh(by.f + 1);
        y = twice<bit<8>>(by.f);
    }
    // Structs, headers, unions and arrays as action data.
    action composite(s_t s, h_t hdr, u_t u, s_t[4] many, s_t[2][3] more) {
        y = many[1].f + more[2][1].f + s.f + s.minSizeInBits() + (bit<8>)(bit<1>)hdr.isValid();
    }
    table t {
        key = { h.a : exact; }
        actions = { counted; composite; }
        default_action = composite(..., (h_t){#}, (u_t){#}, ..., { ... });
    }
    apply {
        y = 0;
        t.apply();
        any.take(one);
        y = one.read() + (bit<8>)row[1].read() + plane[2][1].read() + keeper.kept();
        row[h.a].write(16w7);
    }
}

control Block<H>(inout H h, out bit<8> y);
package Own<H>(Block<H> block);

Own(C()) main; //~ WARN architecture `Own` is not supported: it was checked, and no switch can run it
