/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Swift or TIMELY as the kernel's congestion control, with the kernel's pacing. The rules are in ../law; this file
 * feeds them with the kernel's round-trip times and publishes rate and window. */
#include "p4cc_delay.h"
#include "p4cc_socket.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A window of a sender that has none: more than any send buffer holds. */
#define P4CC_NO_WINDOW (1 << 20)

struct flow {
	struct p4cc_delay_flow law;
	__u32 delivered;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct flow);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct p4cc_delay_params);
} parameters SEC(".maps");

static __always_inline const struct p4cc_delay_params *parameters_of(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&parameters, &first);
}

/* A window below one segment is one segment, which the rate delays. */
static __always_inline void publish(struct sock *sk, const struct p4cc_delay_params *params, const struct flow *flow)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u64 window = p4cc_delay_window(params, &flow->law) >> FX_SEGMENT_BITS;
	__u64 rate = p4cc_delay_rate(params, &flow->law) >> (P4CC_RATE_BITS + 3);

	window = fx_clamp(window, 1, P4CC_NO_WINDOW);
	tp->snd_cwnd = window < tp->snd_cwnd_clamp ? (__u32)window : tp->snd_cwnd_clamp;
	rate = fx_max(rate, 1);
	sk->sk_pacing_rate = rate < sk->sk_max_pacing_rate ? rate : sk->sk_max_pacing_rate;
}

SEC("struct_ops")
void BPF_PROG(paced_init, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	const struct p4cc_delay_params *params = parameters_of();
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);

	if (!flow || !params)
		return;
	p4cc_delay_start(params, &flow->law, tp->snd_nxt);
	flow->delivered = tp->delivered;
	tp->snd_ssthresh = TCP_INFINITE_SSTHRESH;
	/* TCP paces by itself where the queue of the interface does not. */
	if (sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	publish(sk, params, flow);
	count(COUNT_FLOWS, 1);
}

SEC("struct_ops")
void BPF_PROG(paced_release, struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	__u32 window = (__u32)fx_max(in_flight(tp), TCP_INIT_CWND);

	/* The next congestion control starts from this window, and a rate no longer bounds it. */
	if (tp->snd_cwnd > window)
		tp->snd_cwnd = window;
	bpf_sk_storage_delete(&flows, sk);
}

SEC("struct_ops")
__u32 BPF_PROG(paced_ssthresh, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_ssthresh;
}

SEC("struct_ops")
__u32 BPF_PROG(paced_undo_cwnd, struct sock *sk)
{
	return ((struct tcp_sock *)sk)->snd_cwnd;
}

SEC("struct_ops")
void BPF_PROG(paced_set_state, struct sock *sk, __u8 new_state)
{
	const struct p4cc_delay_params *params = parameters_of();
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);

	if (!flow || !params)
		return;
	if (new_state == TCP_CA_RECOVERY) {
		p4cc_delay_on_loss(params, &flow->law, bpf_ktime_get_ns());
		count(COUNT_RECOVERIES, 1);
	} else if (new_state == TCP_CA_LOSS) {
		p4cc_delay_on_timeout(params, &flow->law, bpf_ktime_get_ns());
		count(COUNT_TIMEOUTS, 1);
	}
	publish(sk, params, flow);
}

/* What an application that is slower than its sender sends; the largest value for others. */
static __always_inline __u64 sent_rate(const struct tcp_sock *tp, const struct rate_sample *sample)
{
	__u64 bits = (__u64)tp->mss_cache * 8 * (__u32)sample->delivered;

	if (!sample->is_app_limited || sample->interval_us <= 0 || sample->delivered <= 0)
		return FX_MAX;
	return fx_quotient(bits * 1000000, (__u64)sample->interval_us, P4CC_RATE_BITS);
}

SEC("struct_ops")
void paced_cong_control(unsigned long long *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	const struct rate_sample *sample = sample_of(ctx);
	const struct p4cc_delay_params *params = parameters_of();
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct flow *flow = bpf_sk_storage_get(&flows, sk, 0, 0);
	struct p4cc_delay_ack ack = {};

	if (!flow || !params || has_retired(sk))
		return;
	ack.now_ns = bpf_ktime_get_ns();
	ack.rtt_ns = sample->rtt_us > 0 ? (__u64)sample->rtt_us * 1000 : 0;
	ack.sent_rate = sent_rate(tp, sample);
	ack.ack = tp->snd_una;
	ack.snd_nxt = tp->snd_nxt;
	ack.new_segments = tp->delivered - flow->delivered;
	flow->delivered = tp->delivered;
	p4cc_delay_on_ack(params, &flow->law, &ack);
	publish(sk, params, flow);
	count(COUNT_ACKS, 1);
	count(COUNT_SEGMENTS, ack.new_segments);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops sender = {
	.name = "p4cc",
	.flags = TCP_CONG_NON_RESTRICTED,
	.init = (void *)paced_init,
	.release = (void *)paced_release,
	.ssthresh = (void *)paced_ssthresh,
	.set_state = (void *)paced_set_state,
	.cong_control = (void *)paced_cong_control,
	.undo_cwnd = (void *)paced_undo_cwnd,
};
