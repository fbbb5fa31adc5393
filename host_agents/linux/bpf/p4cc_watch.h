/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Records of a watched sender. In a sender that is loaded without them the kernel's verifier removes this code, since
 * `settings` is constant by then, and no ring buffer exists. */
#ifndef P4CC_WATCH_H
#define P4CC_WATCH_H

#include "p4cc_controller.h"
#include "p4cc_kernel.h"
#include "p4cc_record.h"

/* The loader writes these before the kernel sees them. */
const volatile struct {
	char name[16];
	__u32 is_watched;
} settings SEC(".rodata.settings");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} records SEC(".maps");

/* Records that found the ring full. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

/* What a flow's records need beyond its law. */
struct watch {
	__u64 started_ns;
	__u64 first_byte;
	__u64 k_marks;
	__u64 kdc_marks;
};

static __always_inline void count_lost(void)
{
	__u32 first = 0;
	__u64 *sum = bpf_map_lookup_elem(&lost, &first);

	if (sum)
		__sync_fetch_and_add(sum, 1);
}

static __always_inline void fill_addresses(struct p4cc_record *record, const struct sock *sk)
{
	const struct sock_common *common = &sk->__sk_common;

	record->family = common->skc_family;
	record->local_port = common->skc_num;
	record->remote_port = bpf_ntohs(common->skc_dport);
	__builtin_memset(record->local_ip, 0, sizeof(record->local_ip));
	__builtin_memset(record->remote_ip, 0, sizeof(record->remote_ip));
	if (record->family == AF_INET) {
		__builtin_memcpy(record->local_ip, &common->skc_rcv_saddr, 4);
		__builtin_memcpy(record->remote_ip, &common->skc_daddr, 4);
	} else if (bpf_core_field_exists(common->skc_v6_daddr)) {
		BPF_CORE_READ_INTO(&record->local_ip, common, skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&record->remote_ip, common, skc_v6_daddr);
	}
}

static __always_inline void write_record(const struct p4cc_params *params, struct sock *sk, const struct p4cc_flow *law,
					 const struct watch *watch, __u32 event, __u32 new_segments)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	struct p4cc_record *record;

	if (!settings.is_watched || !params->watch)
		return;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record) {
		count_lost();
		return;
	}
	record->time_ns = bpf_ktime_get_ns();
	record->started_ns = watch->started_ns;
	record->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, net_cookie);
	record->cgroup = BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
	record->acked_bytes = tp->bytes_acked - watch->first_byte;
	record->cwnd = law->cwnd;
	record->ssthresh = law->ssthresh;
	record->alpha = law->alpha;
	record->delta = law->delta;
	record->srtt_ns = (__u64)tp->srtt_us * 1000 / 8;
	record->k_marks = watch->k_marks;
	record->kdc_marks = watch->kdc_marks;
	record->new_segments = new_segments;
	record->flight_segments = tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
	record->event = event;
	record->phase = p4cc_phase(params, law);
	record->sender = (__u32)params->sender;
	record->slow_start = (__u32)params->slow_start;
	fill_addresses(record, sk);
	for (int place = 0; place < 16; place++)
		record->name[place] = settings.name[place];
	/* The reader looks often enough; waking it for each record would cost the ACK more than the record. */
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

#endif
