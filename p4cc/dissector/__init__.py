"""Dissectors for Wireshark, in Lua: of p4cc's transport header, and of the headers of a P4 program."""
