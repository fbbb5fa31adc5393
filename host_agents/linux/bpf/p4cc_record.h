/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * What a watched sender writes: a record after each ACK and each change of state, into a ring buffer that
 * all watched senders of one folder of pins share. `p4cc-hosts watch` reads it. */
#ifndef P4CC_RECORD_H
#define P4CC_RECORD_H

#include <linux/types.h>

/* Values of `event`. */
#define P4CC_EVENT_ACK 0
#define P4CC_EVENT_RECOVERY 1
#define P4CC_EVENT_TIMEOUT 2
#define P4CC_EVENT_EXIT 3
#define P4CC_EVENT_UNDO 4

/* No holes: the loader reads the fields one after the other (loader/src/record.rs). */
struct p4cc_record {
	/* The kernel's monotonic clock. */
	__u64 time_ns;
	/* When the flow began; tells connections with the same addresses and ports apart. */
	__u64 started_ns;
	/* Network namespace and control group of the socket. */
	__u64 netns;
	__u64 cgroup;
	__u64 acked_bytes;
	/* After the event; formats of p4cc_fixed.h. */
	__u64 cwnd;
	__u64 ssthresh;
	__u64 alpha;
	__u64 delta;
	__u64 srtt_ns;
	/* Marks that the sender has counted since the flow began. */
	__u64 k_marks;
	__u64 kdc_marks;
	__u32 new_segments;
	__u32 flight_segments;
	__u32 event;
	__u32 phase;
	__u32 sender;
	__u32 slow_start;
	/* IPv4 addresses are in the first four bytes. */
	__u8 local_ip[16];
	__u8 remote_ip[16];
	__u16 local_port;
	__u16 remote_port;
	__u32 family;
	char name[16];
};

#endif
