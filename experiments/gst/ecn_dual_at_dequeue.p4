// p4cc's ecn_dual, but a packet is marked by the depth that it leaves behind when it is dequeued, and not by
// the depth that it found when it was enqueued: one reading of a source that says neither.
#include <core.p4>
#include <v1model.p4>
#define enq_qdepth deq_qdepth
#include "../v1model/ecn_dual.p4"
