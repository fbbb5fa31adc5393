#include "../../include/headers.p4"
