first
#include_next <n.p4>
