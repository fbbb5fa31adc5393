"""The extension for Visual Studio Code: its files, and its own tests where npm and its packages are."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from p4cc import _engine
from p4cc.version import p4cc_version

EXTENSION = Path(__file__).resolve().parents[2] / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text())
NPM = shutil.which("npm")
SNIPPETS = sorted((EXTENSION / "snippets").glob("*.json"))


def expanded(body: str) -> str:
    """A snippet's text as an editor inserts it, each place with its default."""
    defaults = dict(re.findall(r"\$\{(\d+):([^}]*)\}", body))
    text = re.sub(r"\$\{(\d+):([^}]*)\}", r"\2", body)
    return re.sub(r"\$(\d+)", lambda found: defaults.get(found[1], ""), text)


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.stem)
def test_each_snippet_is_a_program_without_a_warning(path: Path) -> None:
    for snippet in json.loads(path.read_text()).values():
        program = _engine.compile_p4_text("snippet.p4", expanded("\n".join(snippet["body"])))
        assert program.ok, program.rendered
        assert not program.rendered


def test_every_file_that_the_manifest_names_is_there() -> None:
    named = MANIFEST["contributes"]
    files = [one["path"] for one in [*named["grammars"], *named["snippets"]]]
    files += [one["configuration"] for one in named["languages"]]
    assert [file for file in files if not (EXTENSION / file).is_file()] == []
    assert {EXTENSION / one["path"] for one in named["snippets"]} == set(SNIPPETS)


def test_the_extension_has_the_version_of_p4cc() -> None:
    assert MANIFEST["version"] == p4cc_version()


@pytest.mark.skipif(NPM is None, reason="npm is not installed: apt-get install npm")
@pytest.mark.skipif(
    not (EXTENSION / "node_modules" / "typescript").is_dir(),
    reason="the extension's packages are not installed: npm ci in editors/vscode, which `make test` runs",
)
def test_the_extensions_own_tests_pass() -> None:
    assert NPM is not None
    server = f"{Path(sys.executable).with_name('p4cc')} lsp"
    ran = subprocess.run(
        [NPM, "test"],
        cwd=EXTENSION,
        env={**os.environ, "P4CC": server},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "# fail 0" in ran.stdout
