"""Derives results from the tables of runs: pure functions of frames, the tables' descriptions, tables for people."""
