"""What a program takes of a Tofino: p4c's Tofino back end run for each chip, and its reports read into one table."""
