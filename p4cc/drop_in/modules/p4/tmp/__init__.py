"""What PI installs in addition to P4Runtime's messages."""
