"""Messages of P4Runtime."""
