"""How scripts for BMv2 connect to a switch and read its program."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

from bm_runtime.standard import Standard
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TMultiplexedProtocol import TMultiplexedProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException


def check_JSON_md5(client: Any, json_src: str, out: TextIO = sys.stdout) -> None:  # noqa: N802
    """Says so if the switch runs another program than the file's."""
    given, runs = hashlib.md5(Path(json_src).read_bytes(), usedforsecurity=False).digest(), client.bm_get_config_md5()
    if given != runs:
        out.write(f"**********\nWARNING: the switch runs another program than {json_src}\n")
        out.write(f"switch md5     : {runs.hex()}\nCLI input md5  : {given.hex()}\n**********\n")


def get_json_config(standard_client: Any = None, json_path: str | None = None, out: TextIO = sys.stdout) -> str:
    """The program of a switch, or of a file."""
    if json_path:
        if standard_client is not None:
            check_JSON_md5(standard_client, json_path, out)
        return Path(json_path).read_text(encoding="utf-8")
    out.write("Obtaining JSON from switch...\n")
    config = standard_client.bm_get_config()
    out.write("Done\n")
    return config


def thrift_connect(
    thrift_ip: str, thrift_port: int, services: Iterable[tuple[str | None, Any]], out: TextIO = sys.stdout
) -> list[Any]:
    """A client for each service of a switch, over one connection; exits where nothing answers."""
    transport = TBufferedTransport(TSocket(thrift_ip, thrift_port))
    protocol = TBinaryProtocol(transport)
    clients = [name and of(TMultiplexedProtocol(protocol, name)) for name, of in services]
    try:
        transport.open()
    except TTransportException:
        out.write(f"Could not connect to thrift client on port {thrift_port}\n")
        out.write("Make sure the switch is running and that you have the right port\n")
        sys.exit(1)
    return clients


def thrift_connect_standard(thrift_ip: str, thrift_port: int, out: TextIO = sys.stdout) -> Any:
    """A client of the main service."""
    return thrift_connect(thrift_ip, thrift_port, [("standard", Standard.Client)], out)[0]
