#define LATER 1
const string a = "no end;
//~^ ERROR unterminated string
const bit<8> b = LATER +;
//~v ERROR expected `;` after the constant
