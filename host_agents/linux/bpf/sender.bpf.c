/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * One sender as the kernel's congestion control. The rules are in ../law; this file feeds them with the
 * kernel's state and publishes their window. The loader gives the sender its name and its parameters. */
#include "p4cc_controller.h"
#include "p4cc_feedback.h"
#include "p4cc_socket.h"
#include "p4cc_watch.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A flow and what it has seen of the kernel's counters. */
struct flow {
	struct p4cc_flow law;
	/* The window before the loss, for a recovery that was spurious. */
	__u64 prior_cwnd;
	__u64 prior_ssthresh;
	/* 0: the sender's own parameters; else those of this control group. */
	__u64 cgroup;
	__u32 prior_mode;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 reported_k;
	__u32 reported_kdc;
	__u32 retransmit_now;
	/* The receiver of DCTCP (docs/algorithms/window.md#dctcp-receiver). */
	__u32 ce_state;
	__u32 prior_rcv_nxt;
	struct watch watch;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct p4cc_feedback);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct p4cc_params);
} parameters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct p4cc_params);
} by_cgroup SEC(".maps");

static __always_inline const struct p4cc_params *parameters_of(const struct flow *flow)
{
	const struct p4cc_params *own;
	__u64 cgroup = flow->cgroup;
	__u32 first = 0;

	if (cgroup) {
		own = bpf_map_lookup_elem(&by_cgroup, &cgroup);
		if (own)
			return own;
	}
	return bpf_map_lookup_elem(&parameters, &first);
}

/* Linux's rate for spreading a window over the round trip: twice the window in slow start, 1.2 times
 * above. */
static __always_inline void publish_rate(struct sock *sk, struct tcp_sock *tp, const struct flow *flow)
{
	__u64 percent = flow->law.mode == P4CC_IN_SLOW_START ? 200 : 120;
	__u32 segments = tp->snd_cwnd > tp->packets_out ? tp->snd_cwnd : tp->packets_out;
	__u64 rate = (__u64)tp->mss_cache * 80000 * percent * segments;

	if (tp->srtt_us)
		rate /= tp->srtt_us;
	sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
}

static __always_inline void publish(struct tcp_sock *tp, const struct flow *flow)
{
	__u32 cwnd = (__u32)(flow->law.cwnd >> FX_SEGMENT_BITS), ssthresh;

	ssthresh = (__u32)(flow->law.ssthresh >> FX_SEGMENT_BITS);
	tp->snd_cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
	tp->snd_ssthresh = flow->law.ssthresh >= P4CC_MAX_WINDOW ? TCP_INFINITE_SSTHRESH : ssthresh;
}

/* How many groups above are searched. */
#define MAX_LEVEL 16

/* The socket's control group, or the nearest above it, that has parameters; else 0. */
static __always_inline __u64 group_with_parameters(struct sock *sk)
{
	struct cgroup *cgroup = sk->sk_cgrp_data.cgroup, *ancestor;
	int level = cgroup->level;
	__u64 id;

	for (int above = 0; above <= MAX_LEVEL && above <= level; above++) {
		if (bpf_core_read(&ancestor, sizeof(ancestor), &cgroup->ancestors[level - above]))
			break;
		id = BPF_CORE_READ(ancestor, kn, id);
		if (bpf_map_lookup_elem(&by_cgroup, &id))
			return id;
	}
	return 0;
}

SEC("struct_ops")
void BPF_PROG(sender_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	const struct p4cc_params *params;
	struct p4cc_params own;
	struct flow *flow;

	flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!flow)
		return;
	flow->cgroup = group_with_parameters(sk);
	params = parameters_of(flow);
	if (!params)
		return;
	own = *params;
	if (own.initial_window == 0)
		own.initial_window = fx_segments(tp->snd_cwnd);
	p4cc_start(&own, &flow->law, tp->snd_nxt);
	flow->delivered = tp->delivered;
	flow->delivered_ce = tp->delivered_ce;
	flow->prior_rcv_nxt = tp->rcv_nxt;
	flow->watch.started_ns = bpf_ktime_get_ns();
	flow->watch.first_byte = tp->bytes_acked;
	publish(tp, flow);
	count(COUNT_FLOWS, 1);
}

SEC("struct_ops")
void BPF_PROG(sender_release, struct sock *sk)
{
	bpf_sk_storage_delete(&flows, sk);
}

/* The kernel asks before a reduction; set_state and cong_control publish the threshold that the law has. */
SEC("struct_ops")
__u32 BPF_PROG(sender_ssthresh, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_ssthresh;
}

static __always_inline void remember(struct flow *flow)
{
	if (flow->law.mode == P4CC_IN_RECOVERY)
		return;
	flow->prior_cwnd = flow->law.cwnd;
	flow->prior_ssthresh = flow->law.ssthresh;
	flow->prior_mode = flow->law.mode;
}

SEC("struct_ops")
void BPF_PROG(sender_set_state, struct sock *sk, __u8 new_state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	const struct p4cc_params *params;
	__u32 event = P4CC_EVENT_EXIT;

	if (!flow)
		return;
	params = parameters_of(flow);
	if (!params)
		return;
	switch (new_state) {
	case TCP_CA_RECOVERY:
		event = P4CC_EVENT_RECOVERY;
		remember(flow);
		p4cc_on_fast_retransmit(&flow->law, tp->packets_out);
		flow->retransmit_now = 1;
		count(COUNT_RECOVERIES, 1);
		break;
	case TCP_CA_LOSS:
		event = P4CC_EVENT_TIMEOUT;
		remember(flow);
		p4cc_on_timeout(params, &flow->law, tp->packets_out, tp->snd_una);
		count(COUNT_TIMEOUTS, 1);
		break;
	default:
		if (new_state > TCP_CA_DISORDER || flow->law.mode != P4CC_IN_RECOVERY)
			return;
		p4cc_on_recovery_exit(&flow->law);
	}
	publish(tp, flow);
	write_record(params, sk, &flow->law, &flow->watch, event, 0);
}

SEC("struct_ops")
__u32 BPF_PROG(sender_undo_cwnd, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	const struct p4cc_params *params;

	if (!flow || flow->prior_cwnd == 0)
		return tp->snd_cwnd;
	p4cc_set_cwnd(&flow->law, fx_max(flow->law.cwnd, flow->prior_cwnd));
	p4cc_set_ssthresh(&flow->law, fx_max(flow->law.ssthresh, flow->prior_ssthresh));
	flow->law.mode = flow->prior_mode;
	flow->prior_cwnd = 0;
	params = parameters_of(flow);
	if (params)
		write_record(params, sk, &flow->law, &flow->watch, P4CC_EVENT_UNDO, 0);
	return (__u32)(flow->law.cwnd >> FX_SEGMENT_BITS);
}

/* Bytes that the deadline still waits for and that were never sent, in segments. */
static __always_inline void fill_deadline(struct p4cc_ack *ack, const struct tcp_sock *tp,
					  const struct p4cc_feedback *feedback)
{
	__u64 sent, left;

	ack->segments_left = P4CC_NO_END;
	if (!feedback || !feedback->deadline_ns)
		return;
	ack->deadline_ns = feedback->deadline_ns;
	ack->now_ns = bpf_ktime_get_ns();
	if (!feedback->deadline_bytes || !tp->mss_cache)
		return;
	sent = tp->bytes_acked + (tp->snd_nxt - tp->snd_una) - feedback->deadline_from;
	left = fx_subtract(feedback->deadline_bytes, sent);
	ack->segments_left = fx_min(left, (__u64)1 << 40) * 65536 / tp->mss_cache;
}

/* The marks of this ACK: by the option where the peer has it, else by TCP's own echo, which Linux counts. */
static __always_inline void fill_marks(struct p4cc_ack *ack, const struct tcp_sock *tp, struct flow *flow,
				       struct p4cc_feedback *feedback)
{
	__u32 ce = tp->delivered_ce - flow->delivered_ce, report = P4CC_REPORT_NONE;

	flow->delivered_ce = tp->delivered_ce;
	if (!feedback || !feedback->negotiated) {
		ack->kdc_marks = ce;
		count(COUNT_PLAIN_ACKS, 1);
		return;
	}
	report = feedback->last_report;
	feedback->last_report = P4CC_REPORT_NONE;
	/* A peer that has not reported yet may never do so: what lies between may have changed its SYN-ACK. */
	if (report == P4CC_REPORT_REFUSED || !feedback->accepted) {
		ack->kdc_marks = ce;
		count(COUNT_PLAIN_ACKS, 1);
		return;
	}
	ack->k_marks = feedback->reported_k - flow->reported_k;
	ack->kdc_marks = feedback->reported_kdc - flow->reported_kdc;
	flow->reported_k = feedback->reported_k;
	flow->reported_kdc = feedback->reported_kdc;
	count(COUNT_K, ack->k_marks);
}

SEC("struct_ops")
void sender_cong_control(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct rate_sample *sample = sample_of(ctx);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	const struct p4cc_params *params;
	struct p4cc_feedback *feedback;
	struct p4cc_ack ack = {};
	__u32 least;

	if (!flow || has_retired(sk))
		return;
	params = parameters_of(flow);
	if (!params)
		return;
	feedback = bpf_sk_storage_get(&sockets, sk, 0, 0);
	ack.srtt_ns = (__u64)(tp->srtt_us >> 3) * 1000;
	ack.rtt_ns = sample->rtt_us > 0 ? (__u64)sample->rtt_us * 1000 : 0;
	ack.sent_segments = tp->data_segs_out - tp->total_retrans;
	ack.ack = tp->snd_una;
	ack.snd_nxt = tp->snd_nxt;
	ack.new_segments = tp->delivered - flow->delivered;
	/* Linux's own test of an unused window, in place of RFC7661. */
	ack.is_unvalidated = !BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) &&
			     !(flow->law.mode == P4CC_IN_SLOW_START && tp->snd_cwnd < 2 * tp->max_packets_out);
	flow->delivered = tp->delivered;
	fill_deadline(&ack, tp, feedback);
	fill_marks(&ack, tp, flow, feedback);
	if (p4cc_on_ack(params, &flow->law, &ack))
		count(COUNT_CUTS, 1);
	publish(tp, flow);
	/* The first retransmission of a recovery leaves at once, whatever is in flight (RFC6675, 5 (4.3)). */
	least = in_flight(tp) + 1;
	if (flow->retransmit_now && tp->snd_cwnd < least)
		tp->snd_cwnd = least;
	flow->retransmit_now = 0;
	publish_rate(sk, tp, flow);
	flow->watch.k_marks += ack.k_marks;
	flow->watch.kdc_marks += ack.kdc_marks;
	write_record(params, sk, &flow->law, &flow->watch, P4CC_EVENT_ACK, ack.new_segments);
	count(COUNT_ACKS, 1);
	count(COUNT_SEGMENTS, ack.new_segments);
	count(COUNT_KDC, ack.kdc_marks);
}

static __always_inline void set_echo(struct tcp_sock *tp, __u32 ce_state)
{
	if (ce_state)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* docs/algorithms/window.md#dctcp-receiver: ECE reports each packet; a change is acknowledged at once, and
 * before it what still waits, with the old state. */
SEC("struct_ops")
void BPF_PROG(sender_cwnd_event, struct sock *sk, int event)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow;
	const struct p4cc_params *params;
	__u32 ce_state = event == CA_EVENT_ECN_IS_CE;

	if (event != CA_EVENT_ECN_IS_CE && event != CA_EVENT_ECN_NO_CE)
		return;
	flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	if (!flow)
		return;
	params = parameters_of(flow);
	if (!params || params->sender == P4CC_RENO_ECN)
		return;
	if (flow->ce_state != ce_state) {
		if (tp->inet_conn.icsk_ack.pending & ICSK_ACK_TIMER) {
			set_echo(tp, flow->ce_state);
			bpf_tcp_send_ack(tp, flow->prior_rcv_nxt);
		}
		tp->inet_conn.icsk_ack.pending |= ICSK_ACK_NOW;
	}
	flow->prior_rcv_nxt = tp->rcv_nxt;
	flow->ce_state = ce_state;
	set_echo(tp, ce_state);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops sender = {
	.name = "p4cc",
	.flags = TCP_CONG_NON_RESTRICTED | TCP_CONG_NEEDS_ECN,
	.init = (void *)sender_init,
	.release = (void *)sender_release,
	.ssthresh = (void *)sender_ssthresh,
	.set_state = (void *)sender_set_state,
	.cwnd_event = (void *)sender_cwnd_event,
	.cong_control = (void *)sender_cong_control,
	.undo_cwnd = (void *)sender_undo_cwnd,
};
