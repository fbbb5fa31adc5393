"""What is to be run and how, as the command line, Python programs and `--again` ask for it."""

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
    """One call of `p4cc run`, or what a study makes many calls of."""

    scenario: Path
    out: Path | None = None
    overrides: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    jobs: int = 1
    threads: int = 1
    """Of each run; results do not depend on it."""
    figures: bool = True
    quiet: bool = False
    use_cache: bool = True
    back_end: Exec | None = None
    """What runs the P4 programs; native code for busy switches if not given."""
    cache: Path | None = None
    """Folder of runs made before; `.cache` beside the results' folder if not given."""
    force: bool = False
    """Replace results of other settings."""
    report: Callable[[Path, str], str] | None = None
    """Makes a page to read, which stands beside the results, of a folder and the name that the reader knows it by."""
    driver: Driver = field(default_factory=LocalDriver)
    """Makes the runs, and has the settings of its own way to do so."""
    store: KeptRuns | None = None
    """Where finished runs are kept, in place of the folder `cache`."""
    call: Call | None = None
    """Keeps for the next such call what this one made."""
    made_of: Path | None = None
    """The file that the scenario was made of, where `scenario` is none that stays."""
    text: str | None = None
    """What stands in the scenario in place of its file, which then says where files that it names are looked for."""

    @property
    def settings(self) -> str:
        """What the command line changes of the scenario, as a short hash."""
        if not self.overrides and not self.variants:
            return SETTINGS_AS_WRITTEN
        return hashlib.sha256(json.dumps([self.overrides, self.variants]).encode()).hexdigest()[:8]
