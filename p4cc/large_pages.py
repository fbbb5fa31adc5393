"""Large pages of memory, which large networks run faster with: how glibc is asked for them."""

from __future__ import annotations

VARIABLE = "GLIBC_TUNABLES"
TUNABLE = "glibc.malloc.hugetlb"


def with_large_pages(tunables: str) -> str:
    """Glibc's variable with large pages on, unless it says something about them already."""
    return tunables if TUNABLE in tunables else ":".join(part for part in (tunables, f"{TUNABLE}=1") if part)
