"""`p4cc reproduce`: runs and measures the figures of a paper and compares them with its numbers."""
