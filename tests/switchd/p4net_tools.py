"""What p4net starts beside the switch, done by p4cc: `p4c` and `simple_switch_CLI`, each by its command line's words.

`p4c -E` hands the source on as it is and `p4c -e` compiles it. p4cc makes P4Info and no BMv2 JSON: what stands for JSON
is the program's own text, which `p4cc-switch` takes in its place.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from p4cc.planning.programs import compile_program
from tests.switchd.namespaces import PATIENCE_S, switch_program


def p4c(words: list[str]) -> int:
    """`--version`; `-E -o FOLDER SOURCE`; `-e -o FOLDER --p4runtime-files FILE SOURCE`."""
    if words == ["--version"]:
        print("p4cc in the place of p4c")
        return 0
    value = {name: words[words.index(name) + 1] for name in ("-o", "--p4runtime-files") if name in words}
    source, folder = Path(words[-1]), Path(value["-o"])
    handed_on = folder / f"{source.stem}.p4i"
    if "-E" in words:
        handed_on.write_text(f'#line 1 "{source}"\n' + source.read_text(encoding="utf-8"), encoding="utf-8")
        return 0
    program = handed_on.with_suffix(".p4")
    program.write_bytes(handed_on.read_bytes())
    compiled = compile_program(program, (source.parent,), (), None)
    if not compiled.ok:
        print(compiled.rendered, file=sys.stderr)
        return 1
    (folder / f"{source.stem}.json").write_bytes(compiled.device_config())
    Path(value["--p4runtime-files"]).write_text(compiled.p4info_text(), encoding="utf-8")
    return 0


def simple_switch_cli(words: list[str]) -> int:
    """Commands of the standard input by `p4cc-switch-cli`."""
    for line in sys.stdin:
        command = line.split()
        done = subprocess.run(
            [switch_program("p4cc-switch-cli"), *words, *command],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        answer = f"Error: {done.stderr.strip()}" if done.returncode else done.stdout.strip()
        print(f"RuntimeCmd: {answer}")
    return 0
