"""Flow-size distributions: the project's own have the means that
docs/algorithms/traffic.md#uniform gives, bad files are named by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from p4cc.errors import UserError
from p4cc.planning.cdf_file import read_cdf

FOLDER = Path(__file__).resolve().parents[3] / "experiments" / "cdf"


@pytest.mark.parametrize(
    ("name", "mean_bytes"),
    [
        ("web_search", 1_711_250),
        ("fb_hadoop", 120_421),
        ("ali_storage", 40_870),
        ("google_rpc", 2_892),
        ("web_search_long_tail", 1_861_250),
    ],
)
def test_means_are_the_spec_s(name: str, mean_bytes: float) -> None:
    cdf = read_cdf(FOLDER / f"{name}.cdf")
    assert cdf.mean_bytes == pytest.approx(mean_bytes, abs=1)
    assert cdf.points[0][1] == 0.0
    assert cdf.points[-1][1] == 1.0


def test_shares_are_read_as_percentages_are(tmp_path: Path) -> None:
    for name, text in (("percent", "0 0\n10000 15\n30000 100\n"), ("share", "0 0.0\n10000 0.15\n30000 1\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert read_cdf(tmp_path / "share") == read_cdf(tmp_path / "percent")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0\n5 x\n9 100\n", "sizes.cdf:2: '5 x' is not a point"),
        ("0 0\n5 10 1\n9 100\n", "sizes.cdf:2: '5 10 1' is not a point"),
        ("0 0\n5 110\n", "sizes.cdf:2: '5 110' is out of range"),
        ("0 0\nnan 1\n", "sizes.cdf:2: 'nan 1' is out of range"),
        ("0 0\n\n# note\n9 50\n5 100\n", "sizes.cdf:5: '5 100' is less than the previous line"),
        ("0 0\n9 99\n", "sizes.cdf: the percentages do not cover 0 to 100"),
        ("", "sizes.cdf: the percentages do not cover 0 to 100"),
    ],
)
def test_bad_files_are_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sizes.cdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_cdf(path)
    assert message in str(caught.value)
    assert "remedy" in str(caught.value)
