#include "../../controls/bolt.p4"
