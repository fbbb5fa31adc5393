"""A course: the program that students hand in, and its tests with points and hints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.scenario.yaml import read_document

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "course.yaml"


class CourseTest(BaseModel):
    """One test: commands of STF, or tests of PTF."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stf: str = ""
    """File with the test's commands, next to the course's file."""
    ptf: str = ""
    """Folder of PTF tests, next to the course's file."""
    ptf_class: Annotated[str, Field(alias="class")] = ""
    """The only one of the folder's tests that counts: `module.Class`, or a module; all by default."""
    points: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 1
    name: str = ""
    """Name in tables; by default the name of the file, the folder or the class."""
    hint: str = ""
    """Shown to a student whose program fails the test."""

    @model_validator(mode="after")
    def _has_one_kind(self) -> CourseTest:
        if bool(self.stf) == bool(self.ptf):
            raise ValueError("name a file with stf, or a folder with ptf")
        if self.ptf_class and not self.ptf:
            raise ValueError("class selects among the tests of a folder, which ptf names")
        return self

    @property
    def label(self) -> str:
        """Name of the test."""
        return self.name or self.ptf_class or PurePath(self.stf or self.ptf).stem


class Course(BaseModel):
    """What is graded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    program: Annotated[str, Field(min_length=1)]
    """File in each submission: P4-16 source."""
    tests: Annotated[list[CourseTest], Field(min_length=1, max_length=1_000)]
    strict: Literal["course", "tofino"] | None = None
    """Rules besides the language: `course` for a program without warnings, `tofino` for what the chip takes."""
    define: list[str] = []
    """Macros of the preprocessor: `NAME` or `NAME=VALUE`."""

    @field_validator("program")
    @classmethod
    def _is_a_name(cls, value: str) -> str:
        if PurePath(value).name != value:
            raise ValueError("must be the name of a file, without folders")
        return value

    @property
    def points(self) -> float:
        """Most points."""
        return sum(test.points for test in self.tests)


@dataclass(frozen=True)
class CourseFiles:
    """What the tests of a course name."""

    texts: Mapping[str, str]
    """Commands by the file of an STF test."""
    folders: Mapping[str, Path]
    """Folders of PTF tests by the name that the course gives them."""


def read_course(path: Path) -> tuple[Course, CourseFiles]:
    """A course's file, or `course.yaml` in a folder, with what its tests name; raises UserError."""
    file = path / NAME if path.is_dir() else path
    document = read_document(file)
    data = document.plain()
    # A scenario is named after its file; a course is not.
    data.pop("name", None)
    try:
        course = Course.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = first["loc"]
        cause = f"{'.'.join(map(str, where))}: {first['msg'].removeprefix('Value error, ')}"
        raise UserError(
            cause, place=document.place(where), remedy="docs/how-to/run-a-course.md has an example"
        ) from error
    labels = [test.label for test in course.tests]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise UserError(f"two tests are named {twice!r}", place=str(file), remedy="give each a name of its own")
    return course, _files(course, file.parent)


def _files(course: Course, folder: Path) -> CourseFiles:
    texts = {test.stf: read_text(folder / test.stf, "test") for test in course.tests if test.stf}
    folders = {test.ptf: (folder / test.ptf).resolve() for test in course.tests if test.ptf}
    for path in folders.values():
        if not path.is_dir():
            remedy = "put the PTF tests into a folder next to the course's file, and name the folder"
            raise UserError("there is no such folder", place=str(path), remedy=remedy)
    return CourseFiles(texts, folders)
