// Codepoints of RFC 3168.

#ifndef P4CC_ECN
#define P4CC_ECN

#include "headers.p4"

const ecn_t ECN_NOT_CAPABLE = 0;
const ecn_t ECN_CE = 3;

#endif
