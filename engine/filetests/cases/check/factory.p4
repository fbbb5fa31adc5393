// A function that gives an extern object is a constructor's argument, if its own arguments are known.
extern widget { }
extern widget made<T>(T from);
extern bit<8> number(bit<8> from);

control Holds(in bit<8> x)(widget w, bit<8> n) {
    apply { }
}
control Block(in bit<8> x);
package Own(Block b);

control C(in bit<8> x) {
    Holds(made(8w1), 1) fine;
    Holds(made(8w1), number(1)) wrong; //~ ERROR a constructor argument must be a compile-time constant
    apply {
        fine.apply(x);
    }
}
Own(Holds(made(16w2), 2)) main;
