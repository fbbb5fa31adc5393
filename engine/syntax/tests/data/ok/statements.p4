// Every statement, and names that are reserved elsewhere.
struct S { bit<8> key; bit<8> state; bit<8> type; bit<8> list; }
extern R<T> { R(bit<8> n); void read(out T x); abstract void each(in T x); }
control Sub(inout bit<8> x)() { apply { x = 1; } }
control C(inout S s, inout bit<8>[4] values) {
    bit<8> x;
    bit<8> y = 1;
    const bit<8> z = 2;
    R<bit<8>>(8) r = {
        void each(in bit<8> x) { if (x == 1) return; }
    };
    Sub() sub;
    @name("renamed") action nothing() {}
    action add(in bit<8> a, bit<8> b) { x = a + b; }
    apply {
        ;
        bit<8> local;
        const bit<8> fixed = 3;
        x = 1;
        x += 1; x -= 1; x *= 2; x /= 2; x %= 2; x |+|= 1; x |-|= 1;
        x <<= 1; x >>= 1; x &= 1; x |= 1; x ^= 1;
        x[3:0] = 4;
        s.key = s.state + s.type + s.list;
        add(x, b = 2);
        r.read(x);
        r.read(_);
        sub.apply(x);
        Sub.apply(x);
        if (x == 1) y = 2;
        if (x == 1) { y = 2; } else y = 3;
        if (x == 1) if (y == 2) x = 3; else x = 4;
        if (x == 1) x = 1; else if (x == 2) x = 2; else { x = 3; }
        switch (x) {
            1: { y = 1; }
            2:
            3: { y = 2; }
            (bit<8>) 4: {}
            default: { y = 3; }
        }
        for (bit<8> i = 0, x = 1; i < 8; i += 1, x = x + 1) { if (i == 4) continue; break; }
        for (;x < 3;) x = x + 1;
        for (bit<8> i in 0 .. 7) x = i;
        @unroll for (bit<8> v in values) { x = v; }
        @atomic { x = 1; }
        { { exit; } }
        return;
    }
}
