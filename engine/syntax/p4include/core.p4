// Declarations of the P4-16 core library (language version 1.2.5) that every architecture shares.

#ifndef _CORE_P4_
#define _CORE_P4_

error {
    NoError,
    PacketTooShort,
    NoMatch,
    StackOutOfBounds,
    HeaderTooShort,
    ParserTimeout,
    ParserInvalidArgument
}

match_kind {
    exact,
    ternary,
    lpm
}

// The packet as a parser sees it: a cursor that only moves forward.
extern packet_in {
    // Fills a header of fixed size, or the next element of a stack.
    void extract<T>(out T hdr);
    // Fills a header with one varbit field of the given size.
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);
    // Reads without moving the cursor.
    T lookahead<T>();
    // Moves the cursor.
    void advance(in bit<32> sizeInBits);
    // Packet length in bytes.
    bit<32> length();
}

// The packet as a deparser writes it.
extern packet_out {
    // Appends a valid header; an invalid one appends nothing.
    void emit<T>(in T hdr);
}

// Sets the parser error and goes to `reject` when the check fails.
extern void verify(in bool check, in error toSignal);

@noWarn("unused")
action NoAction() {}

// Checked at compile time.
extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);

#endif
