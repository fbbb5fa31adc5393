"""What to run and how, as requested by the command line, Python programs and `--again`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from p4cc.running.local_driver import LocalDriver
from p4cc.running.result_folder import SETTINGS_AS_WRITTEN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from p4cc.planning.execution import Exec
    from p4cc.running.cache import KeptRuns
    from p4cc.running.call_cache import Call
    from p4cc.running.driver import Driver


@dataclass(frozen=True)
class RunRequest:
    """One call of `p4cc run`, or the common part of a study's many calls."""

    scenario: Path
    out: Path | None = None
    overrides: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    jobs: int = 1
    threads: int = 1
    """Per run; results do not depend on it."""
    figures: bool = True
    quiet: bool = False
    use_cache: bool = True
    back_end: Exec | None = None
    """Execution back end of P4 programs; if None, native code for busy switches."""
    cache: Path | None = None
    """Cache of runs; if None, `.cache` in the folder of all results."""
    force: bool = False
    """Replace results of other settings."""
    report: Callable[[Path, str], str] | None = None
    """Writes a report next to the results, given their folder and its name for the reader."""
    driver: Driver = field(default_factory=LocalDriver)
    """Makes the runs, with the settings of its kind."""
    store: KeptRuns | None = None
    """Storage of finished runs instead of the folder `cache`."""
    call: Call | None = None
    """Records this call for the next one."""
    made_of: Path | None = None
    """The original file of the scenario, if `scenario` is temporary."""
    text: str | None = None
    """Data of the scenario that replaces the file's content; the file then only gives the folder of relative names."""

    @property
    def settings(self) -> str:
        """Short hash of the changes from the command line."""
        if not self.overrides and not self.variants:
            return SETTINGS_AS_WRITTEN
        return hashlib.sha256(json.dumps([self.overrides, self.variants]).encode()).hexdigest()[:8]
