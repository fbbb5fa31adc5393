"""What bounded the slow flows of a finished run, from its tables."""
