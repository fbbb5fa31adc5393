"""A program's use of a Tofino: runs p4c's Tofino back end for each chip and reads its reports into one table."""
