// What is a type depends on the scope.
struct T { bit<8> a; }
bit<8> shadow(in bit<8> T) { return T + 1; }
control C<X>(inout X x, inout T t) {
    bit<8> T = 1;
    action act() { T = 2; T = T < 3 ? T : 4; }
    apply { T = (T) - 1; }
}
control D(inout T t) {
    apply {
        { bit<8> T; T = 1; }
        T copy = t;
        t = (T) {a = 1};
        bool less = copy.a < t.a;
    }
}
X twice<X>(in X x) { return x; }
