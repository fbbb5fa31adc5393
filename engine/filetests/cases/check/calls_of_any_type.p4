// What a call with type parameters may be given.
extern void show<T>(in T value);
extern void keep<T>(T value);
extern Box {
    Box();
    void put<T>(in T value);
    void put<T>(in T other, in bit<8> twice);
    void put<T>(in T third, in bit<8> again);
}
extern Late {
    Late(list<bit<8>> values = ...); //~ ERROR expected `list<bit<8>>`, found `...`
}
struct pair_t { bit<8> a; bit<8> b; }
control inner() { apply { } }

control c(inout bit<8> x) {
    inner() module;
    Box() box;
    apply {
        keep(module);               //~ ERROR `inner` cannot be passed at run time
        box.put(module);            //~ ERROR `inner` cannot be passed at run time
        show({ a = x, b = x });     //~ ERROR the type of a structure expression in this call of `show` is unknown
        show((pair_t){ a = x, b = x });
        box.put<bool>(x);           //~ ERROR expected `bool`, found `bit<8>`
        box.put<bit<8>>(x);
        box.put(x, 1);              //~ ERROR this call of `put` is ambiguous
        box.put(third = x, again = 1);
        bool same = { a = 1, b = 2 } == { a = 1, b = 2 }; //~ ERROR the type of the structures in this comparison is unknown
        same = (pair_t){ a = 1, b = 2 } == { a = x, b = 2 };
    }
}
