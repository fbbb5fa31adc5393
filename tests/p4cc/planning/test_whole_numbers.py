"""Readers of job files check numbers alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p4cc.errors import UserError
from p4cc.planning.coflows import read_coflows
from p4cc.planning.goal import read_goal
from p4cc.planning.htsim_flows import read_connection_matrix
from p4cc.planning.simai_workload import read_simai_workload
from p4cc.planning.whole_numbers import whole, whole_word

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOT_WHOLE = ("", "-1", "+1", "1.5", "1e3", "0x1", "1_0", " 1", "\u0663", "9" * 20, "9" * 5_000)


@given(st.integers(0, 10**18), st.integers(0, 10**18), st.integers(0, 10**18 - 1))
def test_words_of_digits_within_the_range_are_numbers(least: int, more: int, value: int) -> None:
    for word in (f"{value}", f"0{value}"):
        if least <= value <= least + more:
            assert whole_word("size", word, least, least + more, "file:3") == value
        else:
            with pytest.raises(UserError, match=r"file:3: size is '0?[0-9]+'"):
                whole_word("size", word, least, least + more, "file:3")


@pytest.mark.parametrize("word", NOT_WHOLE)
def test_other_words_are_refused(word: str) -> None:
    with pytest.raises(UserError, match=r"^f:1: size is '(?s:.*)' *\n? *remedy: give a whole number from 0 to 9$"):
        whole_word("size", word, 0, 9, "f:1")


@pytest.mark.parametrize(
    ("value", "said"), [(None, "missing"), (True, "'True'"), ("1", "'1'"), (1.0, "'1.0'"), (10, "'10'")]
)
def test_values_of_another_type_are_refused(value: object, said: str) -> None:
    with pytest.raises(UserError) as caught:
        whole("comm_size", value, 0, 9, "f node 1")
    assert (caught.value.cause, caught.value.place) == (f"comm_size is {said}", "f node 1")
    assert whole("comm_size", 9, 0, 9, "") == 9


@pytest.mark.parametrize("word", ["-1", "1e3", "9" * 20])
@pytest.mark.parametrize(
    ("read", "text", "line", "key"),
    [
        (read_coflows, "2 1\n1 WORD 1 0 1 1:1\n", 2, "arrival"),
        (read_connection_matrix, "Nodes 2\nConnections 1\n0->1 start 0 size WORD\n", 3, "size"),
        (read_simai_workload, "DATA all_gpus: 2\n1\na -1 WORD NONE 0 1 NONE 0 1 NONE 0 1\n", 3, "a computing time"),
    ],
)
def test_readers_say_the_same(
    tmp_path: Path, word: str, read: Callable[[Path], object], text: str, line: int, key: str
) -> None:
    file = tmp_path / "x.txt"
    file.write_text(text.replace("WORD", word), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read(file)
    assert (caught.value.place, caught.value.cause) == (f"{file}:{line}", f"{key} is {word!r}")
    assert caught.value.remedy.startswith("give a whole number from ")


def test_goal_says_the_same_of_what_its_grammar_takes(tmp_path: Path) -> None:
    file = tmp_path / "x.goal"
    file.write_text(f"num_ranks 1\nrank 0 {{\nl1: calc {'9' * 19}\n}}\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_goal(file)
    assert (caught.value.place, caught.value.cause) == (f"{file}:3", f"calc is {'9' * 19!r}")
