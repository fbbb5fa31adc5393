"""Shapes of networks, one file each: a class of checked parameters and a function that builds the graph."""
