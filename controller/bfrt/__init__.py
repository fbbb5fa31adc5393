"""BF Runtime: what control planes of Tofino speak, with the vendor's driver (port 50052) and `p4cc-switch --bfrt-addr`.

`wire` has the messages, `schema` the tables of a program as the server's bf-rt.json has them, `codec` entities to
and from messages, `client` the calls. Its session does what that of P4Runtime does (`controller.session`).
"""
