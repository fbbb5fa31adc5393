/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Two-level feedback over TCP for the sockets of a control group: the receiver counts marks by code point
 * and reports the counts in a TCP option of each segment; the sender takes them from there.
 * docs/explanation/linux-hosts.md explains it. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "p4cc_feedback.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Code points of profile `sce` (docs/reference/wire-format.md#ecn-profiles). */
#define ECN_MASK 3
#define ECN_K 1
#define ECN_KDC 3
#define TCP_FLAG_BIT_SYN 2
#define TCP_FLAG_BIT_ACK 16
/* docs/how-to/linux-hosts.md: setsockopt(fd, IPPROTO_TCP, 0x7034, {bytes, ns}). */
#define P4CC_DEADLINE 0x7034

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct p4cc_feedback);
} sockets SEC(".maps");

enum counter {
	COUNT_NEGOTIATED,
	COUNT_PLAIN,
	COUNT_PACKETS,
	COUNT_K,
	COUNT_KDC,
	COUNT_ACCEPTED,
	COUNT_REFUSED,
	COUNTERS,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* The last connections that closed, for `p4cc-hosts stats`. */
struct connection {
	__u32 local_ip[4];
	__u32 remote_ip[4];
	__u16 local_port;
	__u16 remote_port;
	__u32 family;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct connection);
	__type(value, struct p4cc_feedback);
} closed SEC(".maps");

static __always_inline void count(__u32 counter, __u64 by)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += by;
}

static __always_inline struct p4cc_feedback *feedback_of(struct bpf_sock *sk, __u64 flags)
{
	return sk ? bpf_sk_storage_get(&sockets, sk, 0, flags) : NULL;
}

/* ---- code points ------- */

/* The two ECN bits of a packet that carries data, or -1. */
static __always_inline int ecn_of_data(struct __sk_buff *skb)
{
	struct tcphdr tcp;
	__u32 start, length;
	int ecn;

	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		struct iphdr ip;

		if (bpf_skb_load_bytes(skb, 0, &ip, sizeof(ip)) || ip.protocol != IPPROTO_TCP)
			return -1;
		start = ip.ihl * 4;
		ecn = ip.tos & ECN_MASK;
	} else {
		struct ipv6hdr ip;

		if (bpf_skb_load_bytes(skb, 0, &ip, sizeof(ip)) || ip.nexthdr != IPPROTO_TCP)
			return -1;
		start = sizeof(ip);
		ecn = (ip.flow_lbl[0] >> 4) & ECN_MASK;
	}
	if (bpf_skb_load_bytes(skb, start, &tcp, sizeof(tcp)))
		return -1;
	length = start + tcp.doff * 4;
	return skb->len > length ? ecn : -1;
}

SEC("cgroup_skb/ingress")
int count_marks(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;
	struct p4cc_feedback *feedback;
	__u32 packets;
	int ecn;

	if (!sk)
		return 1;
	sk = bpf_sk_fullsock(sk);
	if (!sk || sk->protocol != IPPROTO_TCP)
		return 1;
	feedback = feedback_of(sk, 0);
	if (!feedback)
		return 1;
	ecn = ecn_of_data(skb);
	if (ecn < 0)
		return 1;
	/* The kernel may have merged packets, never ones with different code points. */
	packets = skb->gso_segs > 1 ? skb->gso_segs : 1;
	/* Two processors may receive for one socket at once. */
	__sync_fetch_and_add(&feedback->received, packets);
	count(COUNT_PACKETS, packets);
	if (ecn == ECN_K) {
		__sync_fetch_and_add(&feedback->received_k, packets);
		count(COUNT_K, packets);
	} else if (ecn == ECN_KDC) {
		__sync_fetch_and_add(&feedback->received_kdc, packets);
		count(COUNT_KDC, packets);
	}
	return 1;
}

/* ---- the option -------- */

struct option {
	__u8 kind;
	__u8 length;
	__be16 id;
	/* In a SYN the version, then zeros; else the two counters. */
	__be32 k;
	__be32 kdc;
};

#define OPTION_OF(sixth, seventh)                                                                                      \
	{                                                                                                              \
		.kind = P4CC_OPTION_KIND, .length = P4CC_OPTION_LENGTH, .id = bpf_htons(P4CC_OPTION_ID),               \
		.k = bpf_htonl(sixth), .kdc = bpf_htonl(seventh)                                                       \
	}

/* Reads the option; returns its length or a negative error. */
static __always_inline long load_option(struct bpf_sock_ops *skops, struct option *option, __u64 flags)
{
	/* The search compares the first four bytes: kind, four for their number, the experiment's id. */
	option->kind = P4CC_OPTION_KIND;
	option->length = 4;
	option->id = bpf_htons(P4CC_OPTION_ID);
	return bpf_load_hdr_opt(skops, option, sizeof(*option), flags);
}

static __always_inline int is_offer(struct bpf_sock_ops *skops, __u64 flags)
{
	struct option option = {};

	return load_option(skops, &option, flags) == P4CC_OPTION_LENGTH &&
	       bpf_ntohl(option.k) >> 24 == P4CC_OPTION_VERSION;
}

static __always_inline void reserve(struct bpf_sock_ops *skops)
{
	__u32 flags = skops->skb_tcp_flags;
	struct p4cc_feedback *feedback;

	if (flags & TCP_FLAG_BIT_SYN) {
		/* A SYN offers, a SYN-ACK answers an offer. With a SYN cookie the kernel keeps no SYN, so this end would
		 * not know of its answer. */
		if ((flags & TCP_FLAG_BIT_ACK) && (skops->args[0] == BPF_WRITE_HDR_TCP_SYNACK_COOKIE ||
						   !is_offer(skops, BPF_LOAD_HDR_OPT_TCP_SYN)))
			return;
		bpf_reserve_hdr_opt(skops, P4CC_OPTION_LENGTH, 0);
		return;
	}
	feedback = feedback_of(skops->sk, 0);
	/* An end that has received no data has nothing to report. */
	if (feedback && feedback->negotiated && feedback->received)
		bpf_reserve_hdr_opt(skops, P4CC_OPTION_LENGTH, 0);
}

static __always_inline void write(struct bpf_sock_ops *skops)
{
	struct p4cc_feedback *feedback;

	if (skops->skb_tcp_flags & TCP_FLAG_BIT_SYN) {
		struct option offer = OPTION_OF(P4CC_OPTION_VERSION << 24, 0);

		bpf_store_hdr_opt(skops, &offer, sizeof(offer), 0);
		return;
	}
	feedback = feedback_of(skops->sk, 0);
	if (feedback && feedback->negotiated) {
		struct option report = OPTION_OF(feedback->received_k, feedback->received_kdc);

		bpf_store_hdr_opt(skops, &report, sizeof(report), 0);
	}
}

static __always_inline void parse(struct bpf_sock_ops *skops)
{
	struct p4cc_feedback *feedback = feedback_of(skops->sk, 0);
	struct option option = {};
	__u32 refused;
	long length;

	if (!feedback || !feedback->negotiated)
		return;
	length = load_option(skops, &option, 0);
	if (length == -2 /* ENOENT: other options only */ || length == -42 /* ENOMSG */)
		return;
	refused = feedback->refused;
	if (length == P4CC_OPTION_LENGTH) {
		p4cc_take_report(feedback, bpf_ntohl(option.k), bpf_ntohl(option.kdc), skops->data_segs_out);
	} else {
		feedback->last_report = P4CC_REPORT_REFUSED;
		feedback->refused++;
	}
	count(feedback->refused == refused ? COUNT_ACCEPTED : COUNT_REFUSED, 1);
}

#define CALLBACKS (BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG)

/* Both SYNs were seen: either both ends have the option, or the connection is plain. */
static __always_inline void established(struct bpf_sock_ops *skops, __u64 from)
{
	__u32 others = skops->bpf_sock_ops_cb_flags & ~CALLBACKS;
	struct p4cc_feedback *feedback;

	if (!is_offer(skops, from)) {
		bpf_sock_ops_cb_flags_set(skops, others);
		count(COUNT_PLAIN, 1);
		return;
	}
	feedback = feedback_of(skops->sk, BPF_SK_STORAGE_GET_F_CREATE);
	if (!feedback)
		return;
	feedback->negotiated = 1;
	bpf_sock_ops_cb_flags_set(skops, others | CALLBACKS | BPF_SOCK_OPS_STATE_CB_FLAG);
	count(COUNT_NEGOTIATED, 1);
}

static __always_inline void close(struct bpf_sock_ops *skops)
{
	struct p4cc_feedback *feedback = feedback_of(skops->sk, 0);
	struct connection key = {};

	if (!feedback)
		return;
	key.family = skops->family;
	key.local_port = (__u16)skops->local_port;
	key.remote_port = (__u16)(bpf_ntohl(skops->remote_port));
	if (skops->family == 2 /* AF_INET */) {
		key.local_ip[0] = skops->local_ip4;
		key.remote_ip[0] = skops->remote_ip4;
	} else {
		key.local_ip[0] = skops->local_ip6[0];
		key.local_ip[1] = skops->local_ip6[1];
		key.local_ip[2] = skops->local_ip6[2];
		key.local_ip[3] = skops->local_ip6[3];
		key.remote_ip[0] = skops->remote_ip6[0];
		key.remote_ip[1] = skops->remote_ip6[1];
		key.remote_ip[2] = skops->remote_ip6[2];
		key.remote_ip[3] = skops->remote_ip6[3];
	}
	bpf_map_update_elem(&closed, &key, feedback, BPF_ANY);
}

SEC("sockops")
int feedback_option(struct bpf_sock_ops *skops)
{
	__u32 flags = skops->bpf_sock_ops_cb_flags;
	int save_syn = 1;

	switch (skops->op) {
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		/* The SYN is kept until the connection is established, where its offer is read. */
		bpf_setsockopt(skops, IPPROTO_TCP, TCP_SAVE_SYN, &save_syn, sizeof(save_syn));
		bpf_sock_ops_cb_flags_set(skops, flags | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG);
		break;
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		bpf_sock_ops_cb_flags_set(skops, flags | CALLBACKS);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		established(skops, 0);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		established(skops, BPF_LOAD_HDR_OPT_TCP_SYN);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		reserve(skops);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		write(skops);
		break;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB:
		parse(skops);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		if (skops->args[1] == BPF_TCP_CLOSE)
			close(skops);
		break;
	}
	return 1;
}

/* ---- deadlines --------- */

struct deadline {
	__u64 bytes;
	__u64 ns;
};

SEC("cgroup/setsockopt")
int set_deadline(struct bpf_sockopt *ctx)
{
	struct deadline *deadline = ctx->optval;
	struct p4cc_feedback *feedback;
	struct bpf_tcp_sock *tcp;

	if (ctx->level != IPPROTO_TCP || ctx->optname != P4CC_DEADLINE)
		return 1;
	/* The buffer may be longer than the value. */
	if (ctx->optlen != sizeof(*deadline) || (void *)(deadline + 1) > ctx->optval_end || !ctx->sk)
		return 0;
	tcp = bpf_tcp_sock(ctx->sk);
	feedback = feedback_of(ctx->sk, BPF_SK_STORAGE_GET_F_CREATE);
	if (!tcp || !feedback)
		return 0;
	feedback->deadline_bytes = deadline->bytes;
	feedback->deadline_from = tcp->bytes_acked + (tcp->snd_nxt - tcp->snd_una);
	feedback->deadline_ns = deadline->ns ? bpf_ktime_get_ns() + deadline->ns : 0;
	/* The kernel has no such option and is not asked. */
	ctx->optlen = -1;
	return 1;
}
