/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * What every congestion control of this folder needs of its socket. */
#ifndef P4CC_SOCKET_H
#define P4CC_SOCKET_H

#include "p4cc_kernel.h"

/* Where sockets go when the sender is unloaded: the name of another congestion control, empty until then. */
struct successor {
	char name[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct successor);
} retired SEC(".maps");

enum counter {
	COUNT_FLOWS,
	COUNT_ACKS,
	COUNT_SEGMENTS,
	COUNT_K,
	COUNT_KDC,
	COUNT_CUTS,
	COUNT_RECOVERIES,
	COUNT_TIMEOUTS,
	COUNT_PLAIN_ACKS,
	COUNTERS,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

extern int LINUX_KERNEL_VERSION __kconfig;

static __always_inline void count(__u32 counter, __u64 by)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += by;
}

static __always_inline __u32 in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* Hands the socket over, if the sender is unloaded; returns whether it did. */
static __always_inline int has_retired(struct sock *sk)
{
	struct successor *successor;
	__u32 first = 0;

	successor = bpf_map_lookup_elem(&retired, &first);
	if (!successor || !successor->name[0])
		return 0;
	return bpf_setsockopt(sk, IPPROTO_TCP, TCP_CONGESTION, successor->name, sizeof(successor->name)) == 0;
}

/* Linux 6.10 put two arguments in front of the sample. In assembly: the compiler would choose the offset first, and the
 * verifier takes a fixed one only. */
static __always_inline const struct rate_sample *sample_of(const unsigned long long *ctx)
{
	const struct rate_sample *sample;

	if (LINUX_KERNEL_VERSION >= KERNEL_VERSION(6, 10, 0))
		asm volatile("%0 = *(u64 *)(%1 + 24)" : "=r"(sample) : "r"(ctx));
	else
		asm volatile("%0 = *(u64 *)(%1 + 8)" : "=r"(sample) : "r"(ctx));
	return sample;
}

#endif
