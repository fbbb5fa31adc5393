// Where objects, strings, parsers and controls cannot stand.
#include <core.p4>

extern Plain {
    Plain();
    void join(Plain other); //~ ERROR parameter `other` of the extern has the type of the extern itself
}
control Type();
extern Runs {
    Runs(Type what); //~ ERROR parameter `what` of an extern cannot have type `Type`
}
extern Keeps {
    Keeps();
    abstract void keep();
}
const Plain x = Plain(); //~ ERROR a constant cannot have type `Plain`

control With() {
    apply { }
}
control Takes()(Type any) {
    apply { }
}
control Wrong()(With one) { //~ ERROR `With` has a body and cannot be the type of a parameter
    apply { }
}

package Kept(Keeps keeps);
Kept(Keeps()) kept; //~ ERROR nothing implements the abstract method `keep` of `Keeps` here

extern void any<T>(in T data);
control Says() {
    apply {
        any("text"); //~ ERROR parameter `data` has a direction and cannot be a string
    }
}

struct box<T> {
    T x;
}
typedef box<bit<8>> filled;
typedef box<filled> nested; //~ ERROR `box` has itself as a type argument

@pkginfo //~ ERROR `@pkginfo` takes named values
const bit<8> info = 0;
@name(4) //~ ERROR `@name` takes one string
void named() { }
@deprecated("a" | "b") //~ ERROR `@deprecated` takes one string
void old() { }

extern main { } //~ ERROR `main` must be an instance of a package
