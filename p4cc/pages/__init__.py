"""Pages for a browser: what reports and the live page share."""
