// What is wrong in a program for an architecture of its own is told.
#include <core.p4>

header h_t {
    bit<8> a;
}
extern Counts {
    Counts(int size);
    void count(int index);
}
extern Cell<T> {
    Cell(T first);
    T read();
}
extern T twice<T>(T x);
control Sub(inout h_t h) {
    apply { }
}

control C(inout h_t h, out bit<8> y) {
    Counts(4) counts;
    Cell(16w1) row[4];
    Cell(8w1) none[0]; //~ ERROR the size of an array is 0
    Sub() subs[2]; //~ ERROR only extern objects can form an array of instances
    apply {
        counts.count(h.a); //~ ERROR expected `int`, found `bit<8>`
        y = twice<bit<8>>(h.a); //~ ERROR its argument must be a compile-time constant
        y = row[1].read(); //~ ERROR expected `bit<8>`, found `bit<16>`
        y = (bit<8>)row[4].read(); //~ ERROR index 4 is outside
        y = (bit<8>)row.read(); //~ ERROR has no method `read`
        row[1] = row[2]; //~ ERROR not an lvalue
    }
}

control Block(inout h_t h, out bit<8> y);
package Own(Block block);

Own(C()) main;
