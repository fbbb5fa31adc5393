#include "../../controls/int_push.p4"
