"""Figures, one file per kind."""
