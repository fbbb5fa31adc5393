"""A course: the program that students hand in, and its tests with points and hints."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from p4cc.errors import UserError
from p4cc.files import read_text
from p4cc.scenario.yaml import read_document

NAME = "course.yaml"


class CourseTest(BaseModel):
    """One test."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stf: str
    """File with the test's commands, next to the course's file."""
    points: Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 1
    name: str = ""
    """Name in tables; the file's name by default."""
    hint: str = ""
    """Shown to a student whose program fails the test."""

    @property
    def label(self) -> str:
        """Name of the test."""
        return self.name or PurePath(self.stf).stem


class Course(BaseModel):
    """What is graded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    program: Annotated[str, Field(min_length=1)]
    """File in each submission: P4-16 source."""
    tests: Annotated[list[CourseTest], Field(min_length=1, max_length=1_000)]
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


def read_course(path: Path) -> tuple[Course, dict[str, str]]:
    """A course's file, or `course.yaml` in a folder, with the texts of its tests; raises UserError."""
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
    return course, {test.stf: read_text(file.parent / test.stf, "test") for test in course.tests}
