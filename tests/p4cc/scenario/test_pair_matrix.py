"""A user's own pair matrix: read as written, and hostile files named by line."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.planning.cdf_file import read_cdf, read_gap_cdf
from p4cc.planning.pair_matrix import matrix_description, read_matrix

if TYPE_CHECKING:
    from p4cc import spec

HOSTS = ("h1", "h2", "h3")
SIZE: spec.SizeSpec = {"kind": "fixed", "bytes": 7}
GAP: spec.GapSpec = {"kind": "exponential"}


def _file(folder: Path, text: str, name: str = "pairs.txt") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_pairs_take_the_files_that_they_name(tmp_path: Path) -> None:
    _file(tmp_path, "0 0\n100 50\n900 100\n", "large.cdf")
    _file(tmp_path, "0 0\n2.5 100\n", "even.cdf")
    path = _file(
        tmp_path,
        "# src dst intensity sizes gaps\nh1 h2 1\nh2 h1 2.5 large.cdf\n\nh3 h1 1e-3 - even.cdf\nh3 h2 4 large.cdf -\n",
    )
    found = matrix_description(path, HOSTS, SIZE, GAP)
    assert [(one["src"], one["dst"], one["intensity"], one["size"], one["gap"]) for one in found["pairs"]] == [
        ("h1", "h2", 1.0, 0, 0),
        ("h2", "h1", 2.5, 1, 0),
        ("h3", "h1", 1e-3, 0, 1),
        ("h3", "h2", 4.0, 1, 0),
    ]
    assert found["sizes"][0] is SIZE
    assert found["sizes"][1].get("points", [])[1] == {"bytes": 100, "share": 0.5}
    assert found["gaps"][1].get("points", [])[1] == {"gap_ns": 2.5, "share": 1.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h1 h2\n", "pairs.txt:1: 'h1 h2' is not a pair"),
        ("h1 h2 1\nh1 h3 x\n", "pairs.txt:2: 'h1 h3 x' is not a pair"),
        ("h1 h9 1\n", "pairs.txt:1: there is no host 'h9'"),
        ("h1 h1 1\n", "pairs.txt:1: 'h1' would send to itself"),
        ("h1 h2 1\nh1 h2 2\n", "pairs.txt:2: the pair h1 to h2 occurs twice"),
        ("h1 h2 0\n", "pairs.txt:1: intensity 0 is out of range"),
        ("h1 h2 nan\n", "pairs.txt:1: intensity nan is out of range"),
        ("h1 h2 inf\n", "pairs.txt:1: intensity inf is out of range"),
        ("h1 h2 1 a b c\n", "pairs.txt:1: 'h1 h2 1 a b c' has more than five words"),
        ("# nothing\n", "pairs.txt: the matrix has no pairs"),
    ],
)
def test_bad_matrices_are_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_matrix(_file(tmp_path, text), HOSTS)
    assert message in str(caught.value)
    assert "remedy" in str(caught.value)


def test_files_that_are_missing_or_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("missing", "binary", "."):
        with pytest.raises(UserError, match="cannot read the"):
            read_cdf(tmp_path / name)
        with pytest.raises(UserError, match="cannot read the"):
            read_gap_cdf(tmp_path / name)
        with pytest.raises(UserError, match="cannot read the"):
            read_matrix(tmp_path / name, HOSTS)
    with pytest.raises(UserError, match=r"cannot read the distribution"):
        matrix_description(_file(tmp_path, "h1 h2 1 nowhere.cdf\n"), HOSTS, SIZE, GAP)


LINES = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.builds(
            " ".join,
            st.lists(st.sampled_from(["h1", "h2", "h3", "1", "-1", "1e400", "nan", "#", "-", "0x1", "x"]), max_size=6),
        ),
    ),
    max_size=5,
)


@given(lines=LINES)
def test_any_text_is_a_matrix_or_an_error(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.txt"
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    with contextlib.suppress(UserError):
        pairs = read_matrix(path, HOSTS)
        assert pairs
        assert all(pair.src != pair.dst and pair.intensity > 0 for pair in pairs)


@given(points=st.lists(st.tuples(st.floats(), st.floats()), max_size=5), is_gap=st.booleans())
def test_any_points_are_a_distribution_or_an_error(
    tmp_path_factory: pytest.TempPathFactory, points: list[tuple[float, float]], is_gap: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.cdf"
    path.write_text("\n".join(f"{value} {percent}" for value, percent in points), encoding="utf-8")
    with contextlib.suppress(UserError):
        found = read_gap_cdf(path) if is_gap else read_cdf(path).points
        assert [share for _, share in found] == sorted(share for _, share in found)
        assert (found[0][1], found[-1][1]) == (0.0, 1.0)
