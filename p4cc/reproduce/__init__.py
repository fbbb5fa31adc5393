"""`p4cc reproduce`: the figures of a paper, run, measured and set beside what the paper says."""
