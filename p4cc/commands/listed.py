"""Names and one-line helps of all commands; the module of a command is imported when the command is called.

All modules together take longer to import than most commands take to run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click import Command, Context


class Listed(NamedTuple):
    """A command before its module is imported."""

    name: str
    module: str
    """Below `p4cc.commands`; its `register` adds the command."""
    about: str
    """The first paragraph of its help, which lists of commands show (tests/p4cc/commands/test_listed.py)."""


LISTED = (
    Listed("init", "init", "Write a working scenario with every field explained, to start from."),
    Listed("import", "import_file", "Write the scenario that another tool's file describes."),
    Listed(
        "check-algorithm",
        "algorithm",
        "Check an algorithm class for the invariants of the builtin ones, with random ACKs, marks, losses and "
        "timeouts.",
    ),
    Listed(
        "run",
        "run",
        "Run a scenario: compile the P4 program, install it over P4Runtime, simulate, write tables and figures.",
    ),
    Listed(
        "compare",
        "compare",
        "Compare two results folders: the settings that differ, and each metric with its spread over the seeds.",
    ),
    Listed(
        "report",
        "report",
        "Write results as one HTML file: interactive figures, sortable tables, what was run and how to repeat it.",
    ),
    Listed("tables", "tables", "List the tables of results with their rows and columns, or write all of them as CSV."),
    Listed("explain", "explain", "Say what bounded each slow flow of finished runs, with shares of its time."),
    Listed("reproduce", "reproduce", "Run every figure of a paper and compare its numbers with the paper's."),
    Listed(
        "sweep",
        "sweep",
        "Run an algorithm over values of its parameters: every setting, the Pareto front, the best for each metric.",
    ),
    Listed(
        "compile", "program", "Compile a P4-16 program, and write P4Info, BMv2 JSON, a BF Runtime schema or the IR."
    ),
    Listed("check", "program", "Check P4 programs; exit with code 1 if one has an error."),
    Listed(
        "dissector",
        "dissector",
        "Write a Wireshark dissector for p4cc's transport header and TCP option, or for the headers that a program "
        "parses.",
    ),
    Listed(
        "drop-in",
        "drop_in",
        "Make commands named as those of p4c, BMv2 and p4runtime-shell: p4c, simple_switch_grpc, p4runtime-sh and so "
        "on.",
    ),
    Listed(
        "export-ns3",
        "export_ns3",
        "Write network and flows of a run in the formats of HPCC's ns-3 simulator, so that both run the same flows.",
    ),
    Listed(
        "fmt",
        "fmt",
        "Format P4 sources: indentation, blanks between tokens, blanks at ends of lines, repeated empty lines.",
    ),
    Listed("stf", "stf", "Run tests of the Simple Test Framework (STF) on the embedded switch."),
    Listed(
        "trace-packet",
        "trace_packet",
        "Show the path of each packet through a program, step by step, on the embedded switch.",
    ),
    Listed("grade", "grade", "Grade P4 programs by packet tests (STF and PTF) with points and hints."),
    Listed(
        "schema",
        "info",
        "Explain a part of a scenario: type, unit, default and meaning of each field. Without a part, print JSON "
        "Schema.",
    ),
    Listed("algorithms", "info", "List the algorithms that senders can run, with parameters, defaults and sources."),
    Listed("topo", "topo", "Show the network that a scenario builds."),
    Listed(
        "tofino-report",
        "tofino",
        "Show the Tofino resources that programs use: stages, memories, PHV, parser.",
    ),
    Listed(
        "lab",
        "lab",
        "Run a network on this machine: hosts in namespaces, P4 switches on real interfaces. Needs root.",
    ),
    Listed("lsp", "lsp", "Serve an editor over the Language Server Protocol on standard input and output."),
    Listed(
        "cache",
        "cache",
        "Show the cache of finished runs. It is limited to 4 GiB; p4cc only ever removes files that it created.",
    ),
    Listed("new", "algorithm", "Create files to start from."),
    Listed(
        "controller",
        "controller",
        "Plan thresholds, and install routes, thresholds and ECN codepoints over P4Runtime or BF Runtime.",
    ),
)
"""In the order of `p4cc --help`."""


class ListedGroup(TyperGroup):
    """A group that lists names and helps, and imports a command when a command line names it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for one in LISTED:
            self.add_command(TyperCommand(one.name, help=one.about))

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """The command that a command line names, imported; raises typer's usage error where there is none."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else self.load(name), rest

    def load(self, name: str) -> Command:
        """Imports a command."""
        (module,) = (one.module for one in LISTED if one.name == name)
        app = typer.Typer(rich_markup_mode="markdown")
        import_module(f"p4cc.commands.{module}").register(app)
        loaded = typer.main.get_group(app).commands[name]
        self.add_command(loaded)
        return loaded

    def load_all(self) -> None:
        """Imports all commands, for whoever reads more of them than names and helps."""
        for one in LISTED:
            self.load(one.name)
