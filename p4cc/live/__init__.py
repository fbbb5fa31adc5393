"""A page that watches a run on its way: pauses it, steps it, looks into switches and changes their tables."""
