"""Messages of P4Info."""
