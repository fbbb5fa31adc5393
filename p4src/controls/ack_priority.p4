// The queue of a packet: ACKs, NACKs and CNPs in the highest, data by its traffic class
// (docs/algorithms/README.md#p4-needs; priority 7 is served first).

#ifndef P4CC_ACK_PRIORITY
#define P4CC_ACK_PRIORITY

#include "../include/transport.p4"
#include "../include/sizes.p4"

const priority_t PRIORITY_CONTROL = 7;
const priority_t PRIORITY_DATA_MAX = 6;

control AckPriority(inout headers_t hdr, inout priority_t priority) {
    // Every packet of our transport that is not data.
    bool is_control;
    traffic_class_t traffic_class;

    action set_priority(priority_t value) {
        priority = value;
    }

    // Without an entry: control in the highest queue, data in that of its class, but never beside control.
    // The controller may say otherwise, for instance that ACKs share the queue of data
    // (docs/algorithms/dcqcn.md#dcqcn-sender, `ack_prio 0`).
    @p4cc_role("ack_priority.priorities")
    table priorities {
        key = {
            is_control: exact @name("is_control");
            traffic_class: exact @name("traffic_class");
        }
        actions = {
            set_priority;
            NoAction;
        }
        const default_action = NoAction();
        size = PRIORITY_MAP_SIZE;
    }

    apply {
        is_control = false;
        // Traffic that is not ours: the class selector of its DSCP (RFC 2474 4.2.2).
        traffic_class = hdr.ipv4.dscp[5:3];
        if (hdr.transport.isValid() && hdr.transport.version == TRANSPORT_VERSION) {
            traffic_class = hdr.transport.traffic_class;
            if (hdr.transport.packet_type != PACKET_TYPE_DATA) {
                is_control = true;
            }
        }
        if (is_control) {
            priority = PRIORITY_CONTROL;
        } else if (traffic_class > PRIORITY_DATA_MAX) {
            priority = PRIORITY_DATA_MAX;
        } else {
            priority = traffic_class;
        }
        priorities.apply();
    }
}

#endif
