#include "../../include/ipv4_checksum.p4"
