"""Topology files of other tools, read into facts. Nothing here is run."""

from topos.loaders.imported import Imported, LinkDefaults, graph_of, load_lab

__all__ = ["Imported", "LinkDefaults", "graph_of", "load_lab"]
