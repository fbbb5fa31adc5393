#include "../../controls/pint.p4"
