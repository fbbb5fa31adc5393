//! v1model switch, sans-IO: pipeline, packet replication, traffic manager.
