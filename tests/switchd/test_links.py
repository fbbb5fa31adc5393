"""The state of ports follows the links of their interfaces."""

from __future__ import annotations

from pathlib import Path

from tests.switchd.namespaces import PAIR, Switch, both_ways, lab, run, wait_for


def ports_told(switch: Switch) -> list[tuple[str, str]]:
    """Ports that the log says went up or down, in order."""
    lines = [line for line in switch.log.read_text().splitlines() if " port down " in line or " port up " in line]
    return [
        ("down" if " port down " in line else "up", word)
        for line in lines
        for word in line.split()
        if word.startswith("port=")
    ]


@both_ways
def test_a_port_goes_down_and_up_with_its_link(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(PAIR))
        far_end = it.hosts[1].namespace
        for count, state in enumerate(("down", "up", "down"), start=1):
            run("ip", "-n", far_end, "link", "set", "eth0", state if state == "up" else "down")
            wait_for(lambda count=count: len(ports_told(switch)) == count, f"port 2 to be {state}")
            assert ports_told(switch)[-1] == (state, "port=2")
        assert switch.stop() == 0
