#include "missing.p4" //~ ERROR included file `missing.p4` was not found
#include missing //~ ERROR `#include` needs a file
#error my message //~ ERROR #error my message
#warning be careful //~ WARNING #warning be careful
#inlcude <core.p4> //~ WARNING `#inlcude` is not a directive: the line is ignored, as p4c does
#define ONE(x) x
#define ONE 2 //~ WARNING macro `ONE` is defined again with another value
#undef ONE
#define ONE(x) x
#define BAD(1) x //~ ERROR macro parameters are names separated by commas
const int a = ONE(1, 2); //~ ERROR macro `ONE` takes 1 arguments, 2 were given
//~v ERROR `#if` has no value: it divides by zero
#if 1 / 0
#endif
#if 1 + //~ ERROR `#if` has no value: it ends too early
#endif
#endif //~ ERROR `#endif` without `#if`
#else //~ ERROR `#else` without `#if`
#line x //~ ERROR `#line` needs a line number
#ifdef //~ ERROR `#ifdef` needs a macro name
#endif
#if 1 //~ ERROR this conditional is never closed
const int b = ONE(1; //~ ERROR the arguments of macro `ONE` never end //~ ERROR expected `;` after the constant
