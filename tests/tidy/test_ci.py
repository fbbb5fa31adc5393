"""`.ci/run`: stages that say what they do, subjects of commits, what was skipped; GitHub's jobs run its stages."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
RUN = ROOT / ".ci" / "run"
STAGES = set(re.findall(r"^    \[(\w+)\]=", RUN.read_text(encoding="utf-8"), re.MULTILINE))


def git(folder: Path, *words: str) -> None:
    named = ["-c", "user.name=p4cc", "-c", "user.email=p4cc@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run([shutil.which("git") or "git", *named, *words], cwd=folder, check=True, capture_output=True)


def subjects(folder: Path) -> subprocess.CompletedProcess[str]:
    """The stage `subjects` in a repository of its own."""
    return subprocess.run([folder / ".ci" / "run", "subjects"], capture_output=True, text=True, check=False)


def test_a_long_subject_is_named(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(RUN, tmp_path / ".ci" / "run")
    git(tmp_path, "init", "--quiet")
    # Characters are counted, not bytes.
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "ü" * 72)
    done = subjects(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ci: skipped 0" in done.stdout
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "a" * 73)
    done = subjects(tmp_path)
    assert done.returncode == 1
    assert f"subject of 73 characters: {'a' * 73}" in done.stdout
    assert "ci: subjects failed" in done.stdout
    # What main has already is not looked at.
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert subjects(tmp_path).returncode == 0


def test_stages_side_by_side_fail_together_and_are_shown(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(RUN, tmp_path / ".ci" / "run")
    git(tmp_path, "init", "--quiet")
    (tmp_path / "Makefile").write_text("docs:\n\t@echo the site; false\nptf:\n\t@echo packets went through\n")
    run = [tmp_path / ".ci" / "run", "docs+packets"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "packets went through" in done.stdout
    assert re.search(r"the site\n(.*\n)*ci: docs failed after \d+ s", done.stdout)
    (tmp_path / "Makefile").write_text("docs:\n\t@echo the site\nptf:\n\t@echo packets went through\n")
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"ci: all passed in \d+ s: packets \d+ s, docs \d+ s", done.stdout)


def test_jobs_run_stages_that_there_are() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    lines = [step["run"] for job in jobs.values() for step in job.get("steps", []) if "run" in step]
    run = {stage for line in lines if line.startswith(".ci/run") for stage in re.split(r"[ +]", line)[1:]}
    assert run == STAGES
    assert set(jobs["required"]["needs"]) == jobs.keys() - {"required"}
