// Only externs that declare abstract methods have them implemented by their instances.
extern Plain {
    Plain();
    bit<8> f(in bit<8> a);
}
control inner() { apply { } }
package Whole();

control c() {
    Plain() own = { //~ ERROR extern `Plain` has no abstract methods to implement
        bit<8> f(in bit<8> a) {
            return a;
        }
    };
    inner() part = {};  //~ ERROR only instances of externs implement methods
    Whole() whole = {}; //~ ERROR only instances of externs implement methods
    apply { }
}
