#include "../../controls/ack_priority.p4"
