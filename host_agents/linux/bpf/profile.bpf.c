/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * Profile `gst` on the wire of one interface, profile `sce` above it (docs/algorithms/marking.md#codepoints). The
 * kernel's TCP and the programs of this folder know CE as the strong mark and ECT(1) as the lower one; in `gst`, 11
 * is unmarked, 10 the lower mark and 01 the strong one. The table is one to one, so an end that translates
 * back loses nothing, whatever a packet carries. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* include/uapi/linux/bpf.h since Linux 6.6: the next program of the interface, if there is one. */
#define P4CC_NEXT -1

/* The new code point for each old one, two bits each, 00 lowest. */
#define TO_WIRE (0 << 0 | 2 << 2 | 3 << 4 | 1 << 6)
#define FROM_WIRE (0 << 0 | 3 << 2 | 1 << 4 | 2 << 6)

static __always_inline __u8 translate(__u32 table, __u32 ecn)
{
	return (table >> (2 * (ecn & 3))) & 3;
}

static __always_inline void translate_ipv4(struct __sk_buff *skb, __u32 table)
{
	/* Version, length and type of service, as the checksum adds them. */
	__u8 head[2], old;
	__be16 before, after;

	if (bpf_skb_load_bytes(skb, ETH_HLEN, head, sizeof(head)))
		return;
	__builtin_memcpy(&before, head, sizeof(before));
	old = head[1];
	head[1] = (old & ~3) | translate(table, old);
	if (head[1] == old)
		return;
	__builtin_memcpy(&after, head, sizeof(after));
	if (bpf_l3_csum_replace(skb, ETH_HLEN + offsetof(struct iphdr, check), before, after, sizeof(after)))
		return;
	bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct iphdr, tos), &head[1], 1, 0);
}

static __always_inline void translate_ipv6(struct __sk_buff *skb, __u32 table)
{
	__u8 old, new;

	/* The byte behind the version has the traffic class's last four bits in front. */
	if (bpf_skb_load_bytes(skb, ETH_HLEN + 1, &old, sizeof(old)))
		return;
	new = (old & ~0x30) | translate(table, old >> 4) << 4;
	if (new != old)
		bpf_skb_store_bytes(skb, ETH_HLEN + 1, &new, sizeof(new), BPF_F_RECOMPUTE_CSUM);
}

static __always_inline int translate_packet(struct __sk_buff *skb, __u32 table)
{
	if (skb->protocol == bpf_htons(ETH_P_IP))
		translate_ipv4(skb, table);
	else if (skb->protocol == bpf_htons(ETH_P_IPV6))
		translate_ipv6(skb, table);
	return P4CC_NEXT;
}

SEC("tcx/egress")
int to_wire(struct __sk_buff *skb)
{
	return translate_packet(skb, TO_WIRE);
}

SEC("tcx/ingress")
int from_wire(struct __sk_buff *skb)
{
	return translate_packet(skb, FROM_WIRE);
}
