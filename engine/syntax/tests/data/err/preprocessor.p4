#include "missing.p4" //~ ERROR included file `missing.p4` not found
#include missing //~ ERROR `#include` needs a file name
#error my message //~ ERROR #error my message
#warning be careful //~ WARNING #warning be careful
#inlcude <core.p4> //~ WARNING `#inlcude` is not a directive; the line is ignored, as in p4c
#define ONE(x) x
#define ONE 2 //~ WARNING macro `ONE` is redefined with another value
#undef ONE
#define ONE(x) x
#define BAD(1) x //~ ERROR macro parameters are names separated by commas
const int a = ONE(1, 2); //~ ERROR macro `ONE` takes 1 arguments, but 2 are given
//~v ERROR `#if` cannot be evaluated: it divides by zero
#if 1 / 0
#endif
#if 1 + //~ ERROR `#if` cannot be evaluated: it is incomplete
#endif
#endif //~ ERROR `#endif` without `#if`
#else //~ ERROR `#else` without `#if`
#line x //~ ERROR `#line` needs a line number
#ifdef //~ ERROR `#ifdef` needs a macro name
#endif
#if 1 //~ ERROR unterminated conditional
const int b = ONE(1; //~ ERROR unterminated argument list of macro `ONE` //~ ERROR expected `;` after the constant
