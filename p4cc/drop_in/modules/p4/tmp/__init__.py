"""What PI installs beside P4Runtime's messages."""
