#include "../../controls/int_md.p4"
