/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
 *
 * What a socket knows of marks: those that its own packets brought, as a receiver, and those that its peer
 * reports, as a sender. The socket's storage holds it; programs of both objects read it. */
#ifndef P4CC_FEEDBACK_H
#define P4CC_FEEDBACK_H

#include <linux/types.h>

/* docs/reference/wire-format.md#feedback-option: an experimental TCP option (RFC6994). */
#define P4CC_OPTION_KIND 254
#define P4CC_OPTION_LENGTH 12
#define P4CC_OPTION_ID 0x5034
#define P4CC_OPTION_VERSION 1

/* What the last segment said, until the sender has used it. */
#define P4CC_REPORT_NONE 0
#define P4CC_REPORT_ACCEPTED 1
#define P4CC_REPORT_REFUSED 2

struct p4cc_feedback {
	/* Both ends negotiated the option in their SYNs. */
	__u32 negotiated;
	__u32 last_report;
	/* Data packets that arrived, by mark. */
	__u32 received;
	__u32 received_k;
	__u32 received_kdc;
	/* Marks that the peer reported and this end accepted. */
	__u32 reported_k;
	__u32 reported_kdc;
	__u32 accepted;
	__u32 refused;
	/* The kernel's count of data segments at the last report, which wraps. */
	__u32 sent;
	/* The application's deadline and the bytes until then, from the byte at which it was set (D2TCP). */
	__u64 deadline_ns;
	__u64 deadline_bytes;
	__u64 deadline_from;
	/* Data segments that were sent, and marks that were accepted, since the connection began. */
	__u64 total_sent;
	__u64 total_marks;
};

/* Takes the counters of one option; `sent` is the kernel's 32-bit count of data segments. Counters never go back and never exceed the packets that were sent, so
 * a report that does is refused whole: a peer can withhold marks, as in RFC3168, and do nothing else. */
static __attribute__((always_inline, unused)) inline void p4cc_take_report(struct p4cc_feedback *feedback, __u32 k,
									   __u32 kdc, __u32 sent)
{
	__u32 new_k = k - feedback->reported_k, new_kdc = kdc - feedback->reported_kdc;
	__u64 marks = feedback->total_marks + new_k + new_kdc;

	feedback->total_sent += (__u32)(sent - feedback->sent);
	feedback->sent = sent;
	if (new_k > 0x7fffffff || new_kdc > 0x7fffffff || marks > feedback->total_sent) {
		feedback->last_report = P4CC_REPORT_REFUSED;
		feedback->refused++;
		return;
	}
	feedback->total_marks = marks;
	feedback->reported_k = k;
	feedback->reported_kdc = kdc;
	feedback->last_report = P4CC_REPORT_ACCEPTED;
	feedback->accepted++;
}

#endif
