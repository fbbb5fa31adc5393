"""`p4cc report`: results folders as one self-contained page."""
