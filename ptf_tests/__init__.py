"""Packet tests of the P4 programs with PTF, the same on every target (docs/how-to/ptf.md)."""
