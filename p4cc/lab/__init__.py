"""Labs: a scenario, or another tool's topology, with real packets on this machine."""
