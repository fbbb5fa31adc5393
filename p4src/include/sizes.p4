// Every size of the programs, in one place. Ids and sizes are part of the
// control plane's contract: a size may grow, an id is never used twice.

#ifndef P4CC_SIZES
#define P4CC_SIZES

// Routes: a fat-tree with K = 10 needs at most 250 host routes.
const bit<32> IPV4_LPM_SIZE = 1024;

// Next hops that groups share, over all groups; two for each port is ample.
const bit<32> ECMP_SELECTOR_SIZE = 1024;
// Largest group: the up-links of a fat-tree switch with K = 64.
#define ECMP_MAX_GROUP_SIZE 32
// Groups of such members that a chip has room for.
const bit<32> ECMP_GROUPS = 128;
// Bits of the hash that choose the member.
const bit<32> ECMP_HASH_WIDTH = 16;
// Seeds by EtherType: IPv4's is the only one that is forwarded.
const bit<32> ECMP_SEED_SIZE = 4;

// Cells of flowlets: a power of two, so that a hash fills it evenly.
const bit<32> FLOWLET_COUNT = 65536;

// Ports are nine bits wide in v1model; 511 is the drop port.
const bit<32> PORT_COUNT = 512;
// Queues: port and priority side by side.
const bit<32> QUEUE_COUNT = 4096;
// Four cells a port: queue level 0, 1, 2, and one that stays
// empty so that the index is port and level side by side.
const bit<32> LEVEL_COUNTER_SIZE = 2048;

// Two levels above zero times three capable codepoints, and the same for level zero.
const bit<32> CODEPOINT_MAP_SIZE = 16;

// Steps of RED curves, over all ports (controller/red.py has the same number).
const bit<32> RED_STEPS_SIZE = 1024;

// Priorities by traffic class: eight classes of data and eight of everything else.
const bit<32> PRIORITY_MAP_SIZE = 16;

// DSCPs of six bits.
const bit<32> DSCP_COUNT = 64;

// Flows whose number has a reciprocal; beyond it D3 gives no fair share (controller/reciprocals.py fills it).
const bit<32> RECIPROCAL_SIZE = 4096;

// Cells of PINT's logarithm: numbers of 18 bits by their first seven (controller/pint.py fills them).
const bit<32> PINT_CELLS = 1024;

#endif
