"""How switches are talked to where nobody says otherwise; apart from what speaks gRPC, which takes long to import."""

DEFAULT_TIMEOUT_S = 10.0
DEFAULT_ELECTION_ID = 1
