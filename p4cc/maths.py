"""Powers, logarithms and roots for algorithms in Python: the same bits on every machine, unlike those of `math`.

The four rules of arithmetic and `math.sqrt` are exact everywhere and need none of this.
"""

from p4cc._engine import maths_cbrt as cbrt
from p4cc._engine import maths_exp as exp
from p4cc._engine import maths_log as log
from p4cc._engine import maths_pow as pow  # noqa: A004 - the name that maths has for it

__all__ = ["cbrt", "exp", "log", "pow"]
