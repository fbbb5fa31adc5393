"""Messages of P4Info, by version."""
