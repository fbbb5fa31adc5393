"""`p4cc report`: folders of results as one page to read, without a network."""
