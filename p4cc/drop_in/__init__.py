"""The names that courses and scripts call, run by p4cc: `p4c`, `simple_switch` and their kin.

`folder` makes a folder of commands for PATH; `compiler` takes the command lines of p4c's programs, `shell` that of
p4runtime-sh. The switches need nothing of their own, since `p4cc-switch` takes the command line of simple_switch_grpc.
"""
