"""The output of `p4cc controller plan`: the readings for one link, or a row for each class of a network's ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from controller.settings import LinkPlan, Setting
    from controller.tiers import TierPlan

_THRESHOLDS = ("k", "k_dc", "k_min", "k_max")


def print_link(console: Console, plan: LinkPlan) -> None:
    """Every reading, the chosen ones marked, then a sentence for each scheme and the sources."""
    at = plan.at
    buffer_bytes = at.buffer_pkts * at.packet_bytes
    console.print(
        f"{_gigabits(at.rate_bps)} Gb/s, RTT {at.rtt_ns / 1e3:g} us, packets of {at.packet_bytes} B, "
        f"{at.senders} senders\n"
        f"in flight (BDP)  {at.bdp_pkts:.1f} packets, {_whole(at.bdp_pkts * at.packet_bytes)} B\n"
        f"buffer           {at.buffer_pkts} packets, {buffer_bytes} B, {plan.queue_us(buffer_bytes):.1f} us of queue"
    )
    table = plain_table("settings (* = chosen)")
    for heading in ("", "setting", "reading"):
        table.add_column(heading, no_wrap=True)
    for heading in ("packets", "bytes", "queue us"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in plan.settings:
        if one.size_bytes is None:
            continue
        name, reading = f"{one.scheme} {one.name}", f"{one.reading}: {one.formula}"
        table.add_row("*" if one.chosen else "", name, reading, *_sizes(plan, one, one.size_bytes))
    console.print()
    console.print(table)
    for line in _numbers(plan):
        console.print(line)
    _print_why(console, [("", plan)])
    _print_sources(console, plan.settings)


def print_tiers(console: Console, plans: Sequence[TierPlan]) -> None:
    """A table for each unit, with a row for each class of ports."""
    at = plans[0].link.at
    console.print(f"RTT {at.rtt_ns / 1e3:g} us, packets of {at.packet_bytes} B")
    units: tuple[tuple[str, Callable[[LinkPlan, float], str]], ...] = (
        ("thresholds in packets", lambda link, size: _whole(link.pkts(size))),
        ("thresholds in bytes", lambda _, size: _whole(size)),
        ("thresholds in microseconds of queue", lambda link, size: f"{link.queue_us(size):.1f}"),
    )
    for title, shown in units:
        table = plain_table(title)
        table.add_column("ports", overflow="fold")
        for heading in ("number", "Gb/s", "buffer", *_THRESHOLDS):
            table.add_column(heading, justify="right", no_wrap=True)
        for one in plans:
            link = one.link
            sizes = (float(link.at.buffer_pkts * link.at.packet_bytes), *(_size(link, name) for name in _THRESHOLDS))
            texts = (shown(link, size) for size in sizes)
            table.add_row(one.tier.name, str(one.tier.ports), _gigabits(link.at.rate_bps), *texts)
        console.print()
        console.print(table)
    console.print()
    hosts = {one.link.at.rate_bps: one.link for one in plans if one.tier.to_host}
    for rate_bps, link in hosts.items():
        console.print(f"hosts at {_gigabits(rate_bps)} Gb/s:")
        for line in _numbers(link):
            console.print(line)
        w_init, w_ai = (_size(link, name) for name in ("w_init", "w_ai"))
        console.print(f"  HPCC   w_init {_whole(w_init)} B, w_ai {_whole(w_ai)} B")
    _print_why(console, [(one.tier.name, one.link) for one in plans])
    _print_sources(console, plans[0].link.settings)


def _size(link: LinkPlan, name: str) -> float:
    size = link.chosen(name).size_bytes
    if size is None:
        raise ValueError(f"{name} is not a queue length")
    return size


def _print_why(console: Console, plans: Sequence[tuple[str, LinkPlan]]) -> None:
    """The reasons, each once; where ports differ in them, with the ports."""
    console.print("\nwhy:")
    for scheme in plans[0][1].why:
        reasons: dict[str, list[str]] = {}
        for name, link in plans:
            reasons.setdefault(link.why[scheme], []).append(name)
        for reason, names in reasons.items():
            ports = f" ({', '.join(dict.fromkeys(names))})" if len(reasons) > 1 else ""
            _print_indented(console, f"{scheme}{ports}: {reason}.")


def _print_sources(console: Console, settings: Sequence[Setting]) -> None:
    console.print("\nsources:")
    for source in dict.fromkeys(one.source for one in settings if one.source):
        readings = dict.fromkeys(one.reading for one in settings if one.source == source)
        _print_indented(console, f"{source}: {', '.join(readings)}")


def _print_indented(console: Console, text: str) -> None:
    console.print(Padding(Text(text), (0, 0, 0, 2)))


def _numbers(plan: LinkPlan) -> Iterator[str]:
    """Settings that are not lengths, a line for each scheme."""
    chosen = [one for one in plan.settings if one.value is not None and one.chosen]
    for scheme in dict.fromkeys(one.scheme for one in chosen):
        of = ", ".join(f"{one.name} {one.value:g}" for one in chosen if one.scheme == scheme)
        yield f"  {scheme:<6} {of}"


def _sizes(plan: LinkPlan, one: Setting, size_bytes: float) -> tuple[str, str, str]:
    pkts = _fraction(plan.pkts(size_bytes))
    return (pkts, _whole(size_bytes), _fraction(plan.queue_us(size_bytes))) if one.usable else (pkts, "unusable", "-")


def _fraction(number: float) -> str:
    return f"{number:.1f}" if abs(number) >= 1 else f"{number:.3f}"


def _gigabits(rate_bps: int) -> str:
    return f"{rate_bps / 1e9:g}"


def _whole(number: float) -> str:
    return f"{number:.0f}"


def plain_table(title: str) -> Table:
    """A table without borders, its title at the left."""
    return Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
