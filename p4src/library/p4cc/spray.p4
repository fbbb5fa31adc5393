#include "../../controls/spray.p4"
