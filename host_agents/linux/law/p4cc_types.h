/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause OR GPL-2.0-only
 *
 * What the senders of the kernel know and keep: parameters, one ACK, one flow.
 *
 * The senders are those of host_agents/cc with the same names and the same rules, in fixed point. This
 * code has no clock, no socket and no kernel type: eBPF programs and a test in user space include it. */
#ifndef P4CC_TYPES_H
#define P4CC_TYPES_H

#include "p4cc_fixed.h"

/* Values of `sender`. */
#define P4CC_RENO_ECN 0
#define P4CC_DCTCP 1
#define P4CC_D2TCP 2
#define P4CC_L2TCP 3

/* Values of `slow_start`. */
#define P4CC_STANDARD 0
#define P4CC_GST 1
#define P4CC_RFB_SS 2
#define P4CC_LIMITED 3
#define P4CC_SMOOTH 4
#define P4CC_P_START 5

/* Values of `cwr_freeze`. */
#define P4CC_FREEZE_OFF 0
#define P4CC_FREEZE_FIRST_MARK 1
#define P4CC_FREEZE_ON 2

/* Values of `gst_entry` (docs/algorithms/slow-start.md#choice-gst-entry). */
#define P4CC_ENTRY_HOLD 0
#define P4CC_ENTRY_STOP 1
#define P4CC_ENTRY_PER_ACK 2
#define P4CC_ENTRY_WINDOW_CLOSE 3

/* Where the window has its upper end (docs/algorithms/window.md#reno-parameters: 2^30). */
#define P4CC_MAX_WINDOW ((__u64)1 << (30 + FX_SEGMENT_BITS))

/* Parameters of one sender, each 64 bits wide: the loader and the tests write them as an array. Names,
 * units and ranges are those of the registry of host_agents/cc; "segments" and "exponent" are Q32.32,
 * "fraction" is Q2.62. */
struct p4cc_params {
	__u64 sender;
	__u64 slow_start;
	/* 1: growth by each acknowledged segment, as Linux counts; 0: by each ACK, as host_agents/cc does. */
	__u64 growth_by_segment;
	__u64 initial_window;	/* segments */
	__u64 initial_ssthresh; /* segments */
	__u64 ceiling;		/* segments */
	__u64 g;		/* fraction */
	__u64 alpha0;		/* fraction */
	__u64 cwnd_min;		/* segments */
	__u64 cwr_freeze;
	__u64 d_min;  /* exponent */
	__u64 d_max;  /* exponent */
	__u64 d_late; /* exponent */
	__u64 d_step; /* exponent */
	__u64 w_max;  /* exponent */
	__u64 w_min;  /* exponent */
	__u64 s1;     /* segments, Q48.16 */
	__u64 s2;     /* segments, Q48.16 */
	__u64 k;      /* segments */
	__u64 k_dc;   /* segments */
	__u64 gst_literal;
	__u64 gst_entry;
	__u64 delta; /* segments */
	__u64 rtt_max_ns;
	__u64 rtt_ns;
	__u64 max_ssthresh; /* segments */
	/* 1: the kernel's sender writes a record of each ACK (bpf/p4cc_record.h); no rule reads it. */
	__u64 watch;
};

/* One ACK. Sequence numbers are TCP's 32 bits. */
struct p4cc_ack {
	__u64 now_ns;
	/* 0: not measured yet. */
	__u64 srtt_ns;
	/* Segments sent so far, first transmissions only. */
	__u64 sent_segments;
	/* Segments that were never sent, Q48.16; the largest value without an end. */
	__u64 segments_left;
	/* 0: no deadline. */
	__u64 deadline_ns;
	__u32 ack;
	__u32 snd_nxt;
	/* Segments acknowledged for the first time; 0 for a duplicate. */
	__u32 new_segments;
	/* Packets that this ACK reports as marked above K, and above K_dc. */
	__u32 k_marks;
	__u32 kdc_marks;
	/* 1: the sender uses too little of its window for it to grow. */
	__u32 is_unvalidated;
};

#define P4CC_NO_END FX_MAX

/* Which rules govern the window. */
#define P4CC_IN_SLOW_START 0
#define P4CC_IN_AVOIDANCE 1
#define P4CC_IN_RECOVERY 2

/* One flow. */
struct p4cc_flow {
	__u64 cwnd;	/* segments */
	__u64 ssthresh; /* segments */
	/* Growth that is not yet a step of `cwnd`, in units of a fraction. */
	__u64 low;
	__u64 ceiling; /* segments */
	/* DCTCP's estimate of the marked share. */
	__u64 alpha;
	/* GST: exponent and growth per segment, fractions, and the window in which the observation began. */
	__u64 delta;
	__u64 growth;
	__u64 w0;
	/* RFB-SS, smooth and P-start: the window at the start of the round and its growth in that round. */
	__u64 round_w0;
	__u64 round_increment;
	__u32 mode;
	/* Packets of this observation window, and the marked ones. */
	__u32 acked;
	__u32 marked;
	__u32 win_end;
	__u32 cwr_end;
	__u32 in_run;
	__u32 run_begins;
	__u32 w_cnt;
	__u32 beta;
	__u32 gst_end;
	__u32 smoothing;
	__u32 round_end;
	__u32 round_acked;
	__u32 slow_rounds;
	/* The first unacknowledged byte at the last timeout. */
	__u32 timed_out;
	__u32 has_timed_out;
};

/* Whether sequence number a comes after b (RFC9293, 3.4). */
FX_FUNCTION int p4cc_after(__u32 a, __u32 b)
{
	return (__s32)(a - b) > 0;
}

FX_FUNCTION int p4cc_is_kdc(const struct p4cc_ack *ack)
{
	return ack->kdc_marks > 0;
}

FX_FUNCTION int p4cc_is_k(const struct p4cc_ack *ack)
{
	return ack->kdc_marks == 0 && ack->k_marks > 0;
}

/* For how many segments an ACK grows the window. */
FX_FUNCTION __u32 p4cc_growing_segments(const struct p4cc_params *params, const struct p4cc_ack *ack)
{
	if (params->growth_by_segment)
		return ack->new_segments;
	return ack->new_segments > 0;
}

FX_FUNCTION void p4cc_set_cwnd(struct p4cc_flow *flow, __u64 segments)
{
	flow->cwnd = fx_clamp(segments, FX_SEGMENT, flow->ceiling);
	flow->low = 0;
}

FX_FUNCTION void p4cc_set_ssthresh(struct p4cc_flow *flow, __u64 segments)
{
	flow->ssthresh = fx_clamp(segments, FX_SEGMENT, P4CC_MAX_WINDOW);
}

#define P4CC_LOW_BITS (FX_FRACTION_BITS - FX_SEGMENT_BITS)

/* Adds `count` times a fraction of a segment; what is smaller than a step of the window is kept for later. */
FX_FUNCTION void p4cc_add_cwnd(struct p4cc_flow *flow, __u32 count, __u64 fraction)
{
	struct fx_product grown = fx_multiply(count, fraction);
	__u64 low = (grown.low & (((__u64)1 << P4CC_LOW_BITS) - 1)) + flow->low;
	__u64 steps = (grown.high << (64 - P4CC_LOW_BITS)) | (grown.low >> P4CC_LOW_BITS);

	steps += low >> P4CC_LOW_BITS;
	p4cc_set_cwnd(flow, fx_add(flow->cwnd, steps));
	flow->low = low & (((__u64)1 << P4CC_LOW_BITS) - 1);
}

#endif
