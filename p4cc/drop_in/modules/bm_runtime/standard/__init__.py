"""BMv2's main service."""
