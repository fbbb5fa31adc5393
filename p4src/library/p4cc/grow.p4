#include "../../controls/grow.p4"
