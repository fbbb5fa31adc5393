"""p4cc: one description of a congestion-control experiment, run on a switch that executes the P4 program."""
