"""p4runtime-sh: p4runtime-shell from PyPI in p4cc's environment, `python -m p4cc.drop_in.shell --grpc-addr ...`.

The package asks for versions of protobuf and IPython that nothing else here runs with, so nobody can depend on it. It
works with the versions that are here, and with the drop-in's P4Runtime messages.
"""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec

from p4cc.drop_in.folder import MODULES

_NEEDS = {"p4runtime_sh": "p4runtime-shell", "IPython": "ipython"}
"""Modules, and the packages that have them."""


def main() -> int:
    """Runs the shell with the words of the command line; answers an exit code where it is not installed."""
    missing = [package for module, package in _NEEDS.items() if find_spec(module) is None]
    if missing:
        # Its own requirements would replace p4cc's protobuf.
        commands = [
            f"{sys.executable} -m pip install {'--no-deps ' if package == 'p4runtime-shell' else ''}{package}"
            for package in missing
        ]
        sys.stderr.write(f"p4runtime-sh: {' and '.join(missing)} missing; {' && '.join(commands)}\n")
        return 1
    sys.path.insert(0, str(MODULES))
    sys.argv[0] = "p4runtime-sh"
    runpy.run_module("p4runtime_sh", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
