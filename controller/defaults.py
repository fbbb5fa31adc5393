"""Defaults of the command line: addresses, ids and timeouts; separate from the controller, whose import is slow."""

DEFAULT_TIMEOUT_S = 10.0
DEFAULT_ELECTION_ID = 1
DEFAULT_BFRT_CLIENT_ID = 100
"""BF Runtime clients choose their ids; P4 Studio's scripts use 0 and 1."""
P4RUNTIME_SERVER = "127.0.0.1:9559"
BFRT_SERVER = "127.0.0.1:50052"
