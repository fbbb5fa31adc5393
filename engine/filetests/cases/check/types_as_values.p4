// A type is no value, in a body that nothing makes either.
parser never<H>(in bit<16> first, out H found) {
    bool more;
    state start {
        more = first > H; //~ ERROR expected a value, found the type `H`
        transition accept;
    }
}
