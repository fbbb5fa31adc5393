"""Emacs with the lines of docs/how-to/editor.md: diagnostics and hover come."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.editors.test_neovim import PAGE, PATIENCE_S, PROGRAM

ASK = """
(require 'eglot)
(require 'json)
(setq eglot-sync-connect 60 eglot-connect-timeout 60)
(find-file "main.p4")
(cl-letf (((symbol-function 'y-or-n-p) (lambda (&rest _) t)))
  (apply #'eglot (eglot--guess-contact)))
(let ((until (+ (float-time) 60)) told lines hover)
  (while (and (null told) (< (float-time) until))
    (accept-process-output nil 0.1)
    (flymake-start)
    (setq told (flymake-diagnostics)))
  (setq lines (mapcar (lambda (one) (line-number-at-pos (flymake-diagnostic-beg one))) told))
  (goto-char (point-min))
  (forward-line 3)
  (forward-char 18)
  (setq hover (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams)))
  (with-temp-file "answers.json"
    (insert (json-encode (list :lines (vconcat lines)
                               :messages (vconcat (mapcar #'flymake-diagnostic-text told))
                               :hover (plist-get (plist-get hover :contents) :value))))))
(kill-emacs 0)
"""
BATCH = ("--batch", "-l", "package", "-f", "package-initialize")
EMACS = shutil.which("emacs")


def _has_eglot() -> bool:
    if EMACS is None:
        return False
    words = [EMACS, *BATCH, "--eval", "(kill-emacs (if (require 'eglot nil t) 0 1))"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _has_eglot(), reason="Emacs with Eglot is not installed: apt-get install emacs-nox elpa-eglot")
def test_emacs_shows_diagnostics_and_hover(tmp_path: Path) -> None:
    assert EMACS is not None
    section = PAGE.split("## Emacs", 1)[1].split("\n## ", 1)[0]
    (lines,) = re.findall(r"```elisp\n(.*?)```", section, re.DOTALL)
    (tmp_path / "init.el").write_text(lines)
    (tmp_path / "main.p4").write_text(PROGRAM)
    (tmp_path / "ask.el").write_text(ASK)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": path}
    ran = subprocess.run(
        [EMACS, *BATCH, "-l", "init.el", "-l", "ask.el"],
        cwd=tmp_path,
        env={**os.environ, **home},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    answers = tmp_path / "answers.json"
    assert answers.is_file(), ran.stderr
    shown = json.loads(answers.read_text())
    assert shown["lines"] == [4]
    assert "has no member `length`" in shown["messages"][0]
    assert "header field_t" in shown["hover"]
    assert "Length and value." in shown["hover"]
