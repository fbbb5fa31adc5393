#include "../../controls/trim.p4"
