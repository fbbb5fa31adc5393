/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * The kernel's structures as far as the senders read them. The loader finds each field in the running
 * kernel's BTF (CO-RE), so neither the order nor the size here matters, and no generated header is needed. */
#ifndef P4CC_KERNEL_H
#define P4CC_KERNEL_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <linux/version.h>

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
	/* From the root to the group itself. */
	struct cgroup *ancestors[];
};

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct net {
	__u64 net_cookie;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	possible_net_t skc_net;
	/* In kernels with IPv6. */
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
	__u32 sk_pacing_status;
	unsigned long sk_max_pacing_rate;
	struct sock_cgroup_data sk_cgrp_data;
};

struct inet_connection_sock {
	__u8 icsk_ca_state : 5;
	struct {
		__u8 pending;
	} icsk_ack;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 mss_cache;
	__u32 snd_cwnd;
	__u32 snd_ssthresh;
	__u32 snd_cwnd_clamp;
	__u32 snd_una;
	__u32 snd_nxt;
	__u32 rcv_nxt;
	__u32 srtt_us;
	__u32 packets_out;
	__u32 max_packets_out;
	__u32 retrans_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 data_segs_out;
	__u32 total_retrans;
	__u64 bytes_acked;
	__u8 ecn_flags;
	__u8 is_cwnd_limited : 1;
};

struct rate_sample {
	/* Of the last segment that was acknowledged; below 0 without one. */
	long rtt_us;
	long interval_us;
	__s32 delivered;
	__u8 is_app_limited;
};

#pragma clang attribute pop

/* The name is first, where the loader replaces it. */
struct tcp_congestion_ops {
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, __u8 new_state);
	void (*cwnd_event)(struct sock *sk, int event);
	/* More arguments follow, which differ between kernels: see sample_of(). */
	void (*cong_control)(struct sock *sk);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*release)(struct sock *sk);
};

/* include/net/tcp.h. */
#define TCP_CONG_NON_RESTRICTED 0x1
#define TCP_CONG_NEEDS_ECN 0x2
#define TCP_ECN_DEMAND_CWR 4
#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_INIT_CWND 10
/* include/net/inet_connection_sock.h. */
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16
/* include/linux/socket.h. */
#define AF_INET 2
/* include/uapi/linux/in.h and tcp.h, whose structures are named as the kernel's own. */
#define IPPROTO_TCP 6
#define TCP_CONGESTION 13
/* include/net/sock.h, enum sk_pacing. */
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1
/* include/uapi/linux/tcp.h, enum tcp_ca_state. */
#define TCP_CA_DISORDER 1
#define TCP_CA_RECOVERY 3
#define TCP_CA_LOSS 4
/* enum tcp_ca_event. */
#define CA_EVENT_ECN_NO_CE 4
#define CA_EVENT_ECN_IS_CE 5

#endif
