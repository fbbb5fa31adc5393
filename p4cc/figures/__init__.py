"""Figures, one file per kind."""

import logging

# What plotting logs of its caches and fonts, from its import on, is nothing to a user of p4cc.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
