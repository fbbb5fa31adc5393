"""From a scenario to what is run: the network, its traffic and thresholds, and the P4 programs."""
