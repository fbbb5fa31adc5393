bit<8> global = 1; //~ ERROR a variable cannot be declared at top level
table t {} //~ ERROR a table cannot be declared at top level
control NoApply() { //~ ERROR control `NoApply` has no `apply` block
    bit<8> x;
}
struct S {
    bit<8> a //~ ERROR expected `;` after the field
    bit<8> b;
    varbit v; //~ ERROR expected `<` and the largest width of the varbit
    bit<8 c; //~ ERROR expected `>`, found `c`
}
enum E { A B } //~ ERROR expected `,` or `}`, found `B`
const bit<8> in = 1; //~ ERROR expected a name, found `in`
const bit<8> x = 8w; //~ ERROR `8w` is not an integer: it has no digits
const bit<8> y = 0b12; //~ ERROR `0b12` is not an integer
parser P() {
    state start {
        transition select(x) {
            1 accept; //~ ERROR expected `:`, found `accept`
            2: ; //~ ERROR expected a state name, found `;`
        }
    }
    state other {
        return; //~ ERROR `return` is not allowed in a parser
        transition start;
    }
    state third {
        transition start;
        x = 1; //~ ERROR a transition must be the last statement of a state
    }
}
header Unclosed {
    bit<8> a;

struct Next { bit<8> b; } //~ ERROR expected `}`, found `struct`
const S s = {..., a = 1}; //~ ERROR expected `,` or `}`
const S d = {a = 1, ..., b = 2}; //~ ERROR `...` must be the last item
@unclosed(1 //~ ERROR this parenthesis is never closed
