#define BROKEN(x) x +
const int a = BROKEN(1); //~ ERROR expected an expression, found `;`
const int b = (BROKEN(1)); //~ ERROR expected an expression, found `)`
#define KEYWORD struct
const int c = KEYWORD; //~ ERROR expected an expression, found `struct`
