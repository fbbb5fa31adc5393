// Headers, unions, stacks, enums.
#include <core.p4>

header odd_h { bit<7> a; } //~ WARN 7 bits wide
header two_h { varbit<8> a; varbit<8> b; } //~ ERROR has 2 varbit fields
header bad_h { error e; } //~ ERROR a header cannot have a field of type `error`
struct inner_t { bit<8> x; }
header_union bad_u { inner_t x; } //~ ERROR a header union cannot have a field of type `inner_t`
struct stack_t { varbit<8>[4] x; } //~ ERROR an array cannot hold values of type `varbit<8>`
header ok_h { bit<8> a; }
struct zero_t { ok_h[0] x; } //~ ERROR the size of a header stack is 0
struct wide_t { bit<4096> x; } //~ ERROR the width is 4096
enum bit<2> E { A = 1, B, C = 9 } //~ ERROR member `B` of a typed enum needs a value
//~^ ERROR 9 of member `C` does not fit in `bit<2>`
enum F { A = 1 } //~ ERROR members of an enum without an underlying type have no values
enum ok_h G { A = 1 } //~ ERROR the underlying type of an enum must be
type ok_h new_t; //~ ERROR `type` cannot wrap
error { NoError } //~ ERROR error `NoError` is already declared
