#include "../../include/transport.p4"
