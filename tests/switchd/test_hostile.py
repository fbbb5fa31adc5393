"""Hostile controllers, and TLS."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4r

from tests.p4runtime.hostile import attack
from tests.p4runtime.session import connected
from tests.switchd.namespaces import PATIENCE_S, ROOT, Switch, both_ways, lab, listening, run, switch_program, wait_for

REQUESTS = 1_500


@contextmanager
def switch_for_requests(*target: str) -> Generator[tuple[str, int]]:
    """Address and process of a switch without interfaces or program."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [switch_program(), "--no-p4", "--device-id", "1", "--log-file", str(log), "-L", "info"]
        command += ["--", "--grpc-server-addr", "127.0.0.1:0", "--cpu-port", "510", *target]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        switch = Switch(process, "", log.with_suffix(".txt"))
        try:
            yield wait_for(lambda: listening(switch, "P4Runtime server listening on "), "the switch"), process.pid
            assert process.poll() is None, "the switch died"
            assert switch.stop() == 0
        finally:
            process.kill()
            process.wait()


def test_hostile_requests_get_codes_and_change_nothing() -> None:
    with switch_for_requests() as (address, pid):
        outcome = attack(address, pid, REQUESTS, seed=7)
    assert sum(outcome.codes.values()) == REQUESTS
    assert outcome.codes["OK"] > 50, "some requests are good"
    assert outcome.compared > 50


SEND = """
import socket
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.bind(("eth0", 0))
for _ in range(50):
    sender.send(bytes(60))
"""


@both_ways
async def test_packets_that_multiply_keep_nobody_from_the_switch(tmp_path: Path) -> None:
    with lab(tmp_path) as it:
        switch = it.switch(str(ROOT / "engine/switchd/tests/endless.p4"), "--device-id", "1")
        replicas = [p4r.Replica(port=bytes([port]), instance=1) for port in (1, 2)]
        group = p4r.MulticastGroupEntry(multicast_group_id=1, replicas=replicas)
        packet_engine = p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
        entity = p4r.Entity(packet_replication_engine_entry=packet_engine)
        async with connected(switch.address) as controller:
            assert await controller.arbitrate(1) == 0
            await controller.insert(entity)
            run(*it.hosts[0].command("python3", "-c", SEND))
            wait_for(lambda: "exceeded the limit of copies and passes" in switch.log.read_text(), "the limit")
            run(*it.hosts[0].command("python3", "-c", SEND))
            assert await controller.read(entity) == [entity]
            started = time.monotonic()
            assert switch.stop() == 0
            assert time.monotonic() - started < PATIENCE_S / 2


def openssl(folder: Path, *args: str) -> None:
    program = shutil.which("openssl") or "openssl"
    subprocess.run([program, *args], cwd=folder, check=True, capture_output=True, timeout=PATIENCE_S)


def certificate(folder: Path, name: str, *, authority: str | None = None) -> None:
    """A key and a certificate, signed by an authority or by itself."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", f"{name}.key"]
    subject = ["-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    if authority is None:
        openssl(folder, "req", "-x509", *key, *subject, "-out", f"{name}.pem", "-days", "2")
        return
    openssl(folder, "req", *key, *subject, "-out", f"{name}.csr")
    signed_by = ["-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-CAcreateserial"]
    copied = ["-copy_extensions", "copy", "-days", "2"]
    openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signed_by, *copied, "-out", f"{name}.pem")


def capabilities(address: str, credentials: grpc.ChannelCredentials) -> str:
    """The version that a switch says it speaks."""
    with grpc.secure_channel(address, credentials) as channel:
        call = channel.unary_unary(
            "/p4.v1.P4Runtime/Capabilities",
            p4r.CapabilitiesRequest.SerializeToString,
            p4r.CapabilitiesResponse.FromString,
        )
        return call(p4r.CapabilitiesRequest(), timeout=5).p4runtime_api_version


def test_p4runtime_over_tls_with_and_without_client_certificates(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: apt-get install openssl")
    certificate(tmp_path, "authority")
    for name in ("server", "client"):
        certificate(tmp_path, name, authority="authority")
    pem = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    anonymous = grpc.ssl_channel_credentials(pem["authority.pem"])
    known = grpc.ssl_channel_credentials(pem["authority.pem"], pem["client.key"], pem["client.pem"])
    files = ["--grpc-server-cert", f"{tmp_path}/server.pem", "--grpc-server-key", f"{tmp_path}/server.key"]
    with switch_for_requests("--grpc-server-ssl", *files) as (address, _):
        assert capabilities(address, anonymous) == "1.5.0"
        with pytest.raises(grpc.RpcError), grpc.insecure_channel(address) as plain:
            plain.unary_unary("/p4.v1.P4Runtime/Capabilities")(b"", timeout=5)
    both = [*files, "--grpc-server-cacert", f"{tmp_path}/authority.pem", "--grpc-server-with-client-auth"]
    with switch_for_requests("--grpc-server-ssl", *both) as (address, _):
        assert capabilities(address, known) == "1.5.0"
        with pytest.raises(grpc.RpcError):
            capabilities(address, anonymous)


def test_a_key_that_is_none_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.pem"
    bad.write_text("no key")
    target = ["--grpc-server-ssl", "--grpc-server-cert", str(bad), "--grpc-server-key", str(bad)]
    command = [switch_program(), "--no-p4", "--", "--grpc-server-addr", "127.0.0.1:0", *target]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 2
    assert "TLS" in done.stderr
