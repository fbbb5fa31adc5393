"""The scenario: schema, reading, overrides, expansion into cases."""
