// Arithmetic that a chip does in a way of its own, as a software switch does it. `tna.p4` of this folder has
// controls of the same names; whichever file a program includes first counts.

#ifndef P4CC_ARITHMETIC
#define P4CC_ARITHMETIC

#include "../include/headers.p4"

// Bytes of a packet on the link.
typedef bit<32> link_bytes_t;

control AddBytes(inout link_bytes_t bytes, in link_bytes_t more) {
    apply {
        bytes = bytes + more;
    }
}

// A depth as a number of 32 bits.
control WideDepth(in queue_depth_t depth, out bit<32> wide) {
    apply {
        wide = (bit<32>)depth;
    }
}

// Whether a depth has reached a threshold.
control DepthReaches(in bit<32> depth, in bit<32> threshold, out bool reached) {
    apply {
        reached = depth >= threshold;
    }
}

// Whether one small number is below another.
control Below(in bit<8> number, in bit<8> bound, out bool below) {
    apply {
        below = number < bound;
    }
}

// Whether one of two numbers of 16 bits is the lower one.
control Lower(in bit<16> number, in bit<16> bound, out bool lower) {
    apply {
        lower = number < bound;
    }
}

#endif
