"""BMv2's replication engine."""
