"""Some seconds of the clients of `tests.switchd.soak`."""

from __future__ import annotations

from tests.switchd.soak import MAX_RSS_KB, soak

SECONDS = 6.0
CLIENTS = 4


def test_clients_that_read_write_and_push_bombs_exhaust_nothing() -> None:
    figures = soak(SECONDS, CLIENTS)
    assert figures.exit_code == 0
    assert figures.max_rss_kb < MAX_RSS_KB, figures.as_json()
    assert len(figures.waits_s) > 2, "another client was answered"
    assert {code.split()[0] for code in figures.codes} == {"push", "write", "take"}, figures.as_json()
    assert not [code for code in figures.codes if code.endswith(" INTERNAL")], figures.as_json()
