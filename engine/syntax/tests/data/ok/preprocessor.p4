// Macros, conditionals, includes; the tree shows what is left.
#include "inc/shared.p4"
#include "inc/shared.p4"
#define EMPTY
#define WIDTH 8
#define ALIAS WIDTH
#define FIELD(name, width) bit<width> name;
#define TWO(a, b) FIELD(a, WIDTH) \
    FIELD(b, 4)
#define PASTE(a, b) a ## _ ## b
#define TEXT(x) #x
#define SELF SELF
#define CALL FIELD
#define LAST(first, ...) __VA_ARGS__
struct S EMPTY {
    TWO(one, two)
    FIELD(three,
        (1 + 2))
    FIELD(PASTE(a, b), ALIAS)
    CALL(five, 5)
    bit<WIDTH> direct; /* comment
    over lines */ bit<8> behind_comment;
}
const int SELF = 1;
const string s = TEXT(a + "b");
const string in_string = "WIDTH // not a comment";
const int many = LAST(1, 2);
#undef WIDTH
#ifdef WIDTH
#error not reached
#elif !defined(WIDTH) && defined ALIAS && (1 + 2 * 3 == 7) && (0x10 >> 4 == 1 ? 1 : 0)
const int taken = __LINE__;
#else
#include "missing.p4"
#endif
#if 0
don't look: "unclosed
#if 1
const int nested = 1;
#endif
#else
const int other = 2;
#endif
#ifndef UNKNOWN
const int unknown = 1;
#endif
#pragma whatever
#
const bit< \
8> joined = 1;
#line 100 "renamed.p4"
const int line = __LINE__;
const string file = __FILE__;
