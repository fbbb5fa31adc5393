"""The modules that scripts for BMv2 import, against a running switch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from p4cc.drop_in.folder import MODULES
from tests.switchd.namespaces import PATIENCE_S, switch_program, wait_for
from tests.switchd.test_thrift import connect, free_port

PROGRAM = Path(__file__).parents[2] / "switchd/commands.p4"
SCRIPT = """
import sys
import bmpy_utils
from bm_runtime.standard import Standard
from bm_runtime.standard.ttypes import *
from bm_runtime.simple_pre_lag import SimplePreLAG
from sswitch_runtime import SimpleSwitch
from sswitch_runtime.ttypes import MirroringSessionConfig

services = [("standard", Standard), ("simple_pre_lag", SimplePreLAG), ("simple_switch", SimpleSwitch)]
services = [(name, module.Client) for name, module in services]
main, groups, switch = bmpy_utils.thrift_connect("127.0.0.1", int(sys.argv[1]), services)
assert "ingress.exact_match" in bmpy_utils.get_json_config(main)
def exact(key):
    return BmMatchParam(type=BmMatchParamType.EXACT, exact=BmMatchParamExact(key))
key = [exact(b"\\x0a\\x00\\x00\\x01"), exact(b"\\x01")]
table, options = "ingress.exact_match", BmAddEntryOptions(priority=0)
handle = main.bm_mt_add_entry(0, table, key, "ingress.forward", [b"\\x03"], options)
entry = main.bm_mt_get_entry(0, "ingress.exact_match", handle)
assert (entry.match_key, entry.action_entry.action_data, entry.life) == (key, [b"\\x03"], None), entry
try:
    main.bm_mt_delete_entry(0, "ingress.exact_match", 7)
except InvalidTableOperation as refused:
    print(TableOperationErrorCode._VALUES_TO_NAMES[refused.code])
try:
    groups.bm_mc_node_destroy(0, 9)
except SimplePreLAG.InvalidMcOperation as refused:
    print(SimplePreLAG.McOperationErrorCode._VALUES_TO_NAMES[refused.code])
switch.mirroring_session_add(5, MirroringSessionConfig(port=2))
print(switch.mirroring_session_get(5))
print([spec[2] for spec in main.bm_mgmt_get_info().thrift_spec[1:]][:2])
"""


def test_a_script_calls_the_switch_as_it_calls_bmv2() -> None:
    # In the environment of scripts: another test may have put Debian's packages on this process's path.
    if subprocess.run([sys.executable, "-c", "import thrift"], check=False, capture_output=True).returncode != 0:
        pytest.skip("the package thrift is not installed: scripts for BMv2 bring it along")
    port = free_port()
    process = subprocess.Popen([switch_program(), "--thrift-port", str(port), "--no-p4", str(PROGRAM)])
    try:
        with wait_for(lambda: connect(port), "Thrift to answer"):
            pass
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(port)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(MODULES), os.environ.get("PYTHONPATH", "")])},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2:] == [
        "INVALID_HANDLE",
        "INVALID_L1_HANDLE",
        "MirroringSessionConfig(port=2, mgid=None)",
        "['device_id', 'thrift_port']",
    ]


def test_what_is_installed_goes_first(tmp_path: Path) -> None:
    for file in ("p4/v1/p4runtime_pb2.py", "google/rpc/status_pb2.py", "sswitch_runtime/SimpleSwitch.py"):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mark = 'installed'\n")
    program = (
        "from p4.v1 import p4runtime_pb2; from google.rpc import status_pb2, code_pb2; from p4.tmp import p4config_pb2;"
        "from sswitch_runtime import SimpleSwitch; print(p4runtime_pb2.mark, status_pb2.mark, SimpleSwitch.mark)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(MODULES), str(tmp_path)])},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    assert said.stdout.split() == ["installed"] * 3
