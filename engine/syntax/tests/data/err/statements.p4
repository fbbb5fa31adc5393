control C(inout bit<8> x) {
    action a() {
        x = 1 //~ ERROR expected `;` after the assignment
        x = 2;
        x + 1; //~ ERROR expected `=` or a call, found `+`
        x; //~ ERROR this expression has no effect
        x = bit<8>(1); //~ ERROR expected an expression, found the type `bit`
        x = ; //~ ERROR expected an expression, found `;`
        if x == 1 { x = 2; } //~ ERROR expected `(`, found `x`
        x = 3;
        return x //~ ERROR expected `;` after `return`
    }
    action default() {} //~ ERROR expected an action name, found `default`
    table t {
        key = { x exact; } //~ ERROR expected `:`, found `exact`
        actions = { a; b c; } //~ ERROR expected `;` after the action
        size = 1 //~ ERROR expected `;` after the table property
    }
    apply {
        for (bit<8> i in 1 ... 2) {} //~ ERROR expected `)`, found `...`
        x = x $ 1; //~ ERROR expected `;` after the assignment
        x = $; //~ ERROR the character `$` has no meaning in P4
    }
}
