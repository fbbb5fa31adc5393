"""Descriptions of fields in JSON Schemas are those that pydantic itself reads of the same classes."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from topos.documented import Documented

Described = Annotated[int, Field(description="Of the type.")]


class Base(Documented):
    """A base."""

    plain: int = 0
    """A text
    of two lines.
    """
    again: int = 0
    """Of the base."""
    bare: int = 0
    of_type: Described = 0
    said: int = Field(default=0, description="Said.")
    """Not this one."""


class Derived(Base):
    """More fields."""

    again: int = 1
    new: int = Field(default=0, alias="is")
    """Under another name."""


class Outer(Documented):
    """Holds one."""

    inner: Derived = Derived()
    """The one inside."""


class Plain(BaseModel):
    """The same fields, read by pydantic."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    plain: int = 0
    """A text
    of two lines.
    """
    again: int = 1
    bare: int = 0
    of_type: Described = 0
    said: int = Field(default=0, description="Said.")
    """Not this one."""
    new: int = Field(default=0, alias="is")
    """Under another name."""


def test_fields_are_described_as_pydantic_does() -> None:
    assert Derived.model_json_schema()["properties"] == Plain.model_json_schema()["properties"]


def test_inner_models_are_described_too() -> None:
    schema = Outer.model_json_schema()
    assert schema["properties"]["inner"]["description"] == "The one inside."
    assert schema["$defs"]["Derived"]["properties"]["is"]["description"] == "Under another name."
