"""A store that machines share: runs made by one are found by others, and what is wrong there is named."""

# Objects are found by looking.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from p4cc.cluster.store import RunStore, checked_url
from p4cc.errors import UserError
from p4cc.running.cache import run_keys
from p4cc.running.cluster_driver import ClusterDriver
from p4cc.running.request import RunRequest
from p4cc.running.runner import run_scenario
from tests.cluster.machines import ACCESS, Beside, s3_server
from tests.command_line import p4cc
from tests.p4cc.scenarios import scenario, write

if TYPE_CHECKING:
    from collections.abc import Generator

pytest.importorskip("s3fs", reason="the extra ray is not installed: pip install 'p4cc[ray]'")
KEY = next(iter(run_keys(["a plan"], [1]).values()))


@pytest.fixture(params=["file", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    """A store of each kind."""
    if request.param == "file":
        yield f"file://{tmp_path}/shared"
        return
    with s3_server() as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        for name, value in ACCESS.items():
            monkeypatch.setenv(name, value)
        yield f"s3://studies/{tmp_path.name}"


def test_runs_of_one_machine_are_those_of_another(url: str, tmp_path: Path) -> None:
    path = write(tmp_path, scenario(seeds=[1, 2], sweep={"topology.senders": [2, 3]}))
    request = RunRequest(path, figures=False, quiet=True, jobs=2)
    alone = run_scenario(replace(request, out=tmp_path / "alone" / "out", use_cache=False)).folder
    worker = Beside()
    stored = replace(request, store=RunStore(url), driver=ClusterDriver(worker))
    first = run_scenario(replace(stored, out=tmp_path / "first" / "out")).folder
    assert len(worker.made) == 4
    # Another machine, or this one on another day: nothing is made again, nothing lies beside the results.
    other = run_scenario(replace(stored, out=tmp_path / "other" / "out")).folder
    assert len(worker.made) == 4
    worker.close()
    assert not (tmp_path / "other" / ".p4cc-cache").exists()
    for file in alone.glob("*.parquet"):
        assert (first / file.name).read_bytes() == file.read_bytes()
        assert (other / file.name).read_bytes() == file.read_bytes()


def test_a_wrong_object_is_named_with_what_to_do(url: str, tmp_path: Path) -> None:
    path = write(tmp_path, scenario())
    request = RunRequest(path, out=tmp_path / "out", figures=False, quiet=True, store=RunStore(url), force=True)
    run_scenario(request)
    store = RunStore(url)
    (name,) = [str(one) for one in store._system.find(store._root)]
    key = "".join(name.split("/")[-2:])
    assert store.holds(key)
    data = bytearray(store._system.cat_file(name))
    data[-40] ^= 1
    store.put(key, bytes(data))
    with pytest.raises(UserError) as caught:
        run_scenario(request)
    assert caught.value.place == f"{url}/runs/{key[:2]}/{key[2:]}"
    assert "SHA-256 differs" in caught.value.cause
    assert "remove this object" in caught.value.remedy
    store._system.rm_file(name)
    run_scenario(request)
    assert store.load(key) is not None


def test_a_store_that_cannot_be_used_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="the store cannot be used"):
        RunStore(f"file://{tmp_path}/file").put(KEY, b"")
    with s3_server() as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        for name, value in ACCESS.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(UserError) as caught:
            RunStore("s3://no-such-bucket").put(KEY, b"")
    assert "the store cannot be used" in caught.value.cause
    assert ACCESS["AWS_SECRET_ACCESS_KEY"] not in str(caught.value)


@pytest.mark.parametrize("url", ["", "runs", "s3:bucket", "s3://", "file://", "file://machine/folder", "a::b://c"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(UserError):
        checked_url(url)


@pytest.mark.parametrize("url", ["s3://me:secret@bucket/folder", "me:secret@bucket", "s3://bucket?key=secret"])
def test_passwords_stand_in_no_message(url: str) -> None:
    with pytest.raises(UserError) as caught:
        checked_url(url)
    assert "secret" not in str(caught.value)


def refused(*words: str) -> str:
    """What the command says of options that do not go."""
    done = p4cc("run", "gst/incast", "--out", "/nonexistent/out", *words)
    assert done.returncode == 2, done.stderr
    return done.stderr


def test_options_that_do_not_go_together_say_so(tmp_path: Path) -> None:
    assert "--memory: applies only to runs on a cluster" in refused("--memory", "2GB")
    assert "--store: cannot be combined with --no-cache" in refused("--store", f"file://{tmp_path}", "--no-cache")
    assert "is not the address of a cluster" in refused("--on", "slurm")
    assert "no such wheel" in refused("--on", "ray", "--wheel", "p4cc.whl")
    one = ("--variant", "GST-DCTCP", "--set", "sweep={}", "--set", "seeds=[1]")
    assert "runs on this machine" in refused("--on", "ray", "--trace", "1:1", *one)
    # Nothing listens there: it is said at once.
    assert "cannot be joined: ConnectionRefusedError" in refused("--on", "ray://127.0.0.1:1", "--no-cache", *one)
