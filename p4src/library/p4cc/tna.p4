#include "../../adaptors/tna.p4"
