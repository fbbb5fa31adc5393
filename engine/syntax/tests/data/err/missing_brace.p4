control C(inout bit<8> x) {
    action a() {
        if (x == 1) {
            x = 2;
    @name("b")
    //~^ ERROR expected `}` before this
    action b() { x = 3; }
    table t { actions = { a; b; } }
    apply {
        if (t.apply().hit) {
            x = 4;
    }
}
//~v ERROR expected `}`, found `struct`
struct S { bit<8> y; }
const bit<8> z = ; //~ ERROR expected an expression, found `;`
