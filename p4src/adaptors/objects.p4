// Counters and registers of v1model, by names that controls for several architectures use. `tna.p4` of
// this folder has the same for TNA; whichever file a program includes first counts.

#ifndef P4CC_OBJECTS
#define P4CC_OBJECTS

// The type of an array of `SIZE` packet counters; its index has 32 bits.
#define PACKET_COUNTER(SIZE) counter(SIZE, CounterType.packets)

// An array of sums of 32 bits, to each of which a packet adds `BYTES` once, and reads in `BEFORE` what was
// there.
#define SUM_REGISTER(NAME, SIZE, BYTES) register<bit<32>>(SIZE) NAME
#define ADD_TO_SUM(NAME, INDEX, BYTES, BEFORE) \
    NAME.read(BEFORE, (bit<32>)INDEX); \
    NAME.write((bit<32>)INDEX, BEFORE + BYTES)

// An array of 32 bits, of which a packet writes one.
#define KEEP_REGISTER(NAME, SIZE, VALUE) register<bit<32>>(SIZE) NAME
#define KEEP(NAME, INDEX, VALUE) NAME.write((bit<32>)INDEX, VALUE)

#endif
