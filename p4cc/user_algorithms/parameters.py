"""Parameters of a user's algorithm: declared in its class, checked like those of the registry."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, overload

from p4cc.algorithms import Parameter
from p4cc.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Declared:
    """A declared parameter; an object of the class has its value."""

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter
        """Its form in the registry."""

    def __set_name__(self, owner: type, name: str) -> None:
        """Called by Python with the class and the attribute's name."""
        self.parameter.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Declared: ...
    @overload
    def __get__(self, instance: object, owner: type) -> float | str: ...
    def __get__(self, instance: object | None, owner: type) -> Declared | float | str:
        """The default, without a value from the scenario; raises AttributeError if there is none."""
        if instance is None:
            return self
        value = self.parameter.default
        if value is None:
            raise AttributeError(
                f"{owner.__name__}.{self.parameter.name} has no default, so the scenario must give a value"
            )
        return value


def number(
    default: float | None = None,
    *,
    min: float,  # noqa: A002 - the registry's word
    max: float,  # noqa: A002 - the registry's word
    unit: str = "",
    summary: str = "",
    source: str = "",
) -> Any:
    """Declares a numeric parameter from `min` to `max`; without a default, the scenario must give a value.

    Raises ValueError for a default out of range.
    """
    if not min <= max or (default is not None and not min <= default <= max):
        raise ValueError(f"number(default={default}, min={min}, max={max}): the default must lie between min and max")
    value = None if default is None else float(default)
    return Declared(
        Parameter(
            name="",
            unit=unit,
            summary=summary,
            source=source,
            type="number",
            default=value,
            min=float(min),
            max=float(max),
        )
    )


def choice(default: str, *, options: Sequence[str], summary: str = "", source: str = "") -> Any:
    """Declares a parameter with a fixed set of values. Raises ValueError if the default is not one of them."""
    if default not in options:
        raise ValueError(f"choice({default!r}, options={list(options)}): the default must be one of the options")
    options = list(options)
    return Declared(
        Parameter(name="", unit="", summary=summary, source=source, type="choice", default=default, options=options)
    )


def declared_by(kind: type) -> list[Parameter]:
    """The parameters of a class, those of its bases first."""
    found: dict[str, Parameter] = {}
    for base in reversed(kind.__mro__):
        found |= {name: value.parameter for name, value in vars(base).items() if isinstance(value, Declared)}
    return list(found.values())


def values(name: str, known: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, float | str]:
    """The values of all parameters of algorithm `name`; raises UserError whose place is the parameter."""
    names = [one.name for one in known]
    for extra in given:
        if extra not in names:
            near = difflib.get_close_matches(extra, names, n=1)
            listed = f"parameters: {', '.join(names) or 'none'}"
            remedy = f"did you mean {near[0]!r}? {listed}" if near else listed
            raise UserError(f'"{name}" has no parameter "{extra}"', place=extra, remedy=remedy)
    return {one.name: _value(name, one, given.get(one.name)) for one in known}


def _value(name: str, known: Parameter, given: object) -> float | str:
    if known.type == "choice":
        word = {True: "on", False: "off"}[given] if isinstance(given, bool) else given
        if word is None:
            return str(known.default)
        if word in known.options:
            return str(word)
        raise UserError(f"{given!r} is not an allowed value", place=known.name, remedy=f"give one of: {known.values()}")
    remedy = f"give a number from {known.values()}"
    if given is None:
        if known.default is None:
            raise UserError(f'"{name}" requires this parameter, which has no default', place=known.name, remedy=remedy)
        return float(known.default)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise UserError(f"{given!r} is not a number", place=known.name, remedy=remedy)
    if known.min is None or known.max is None or not known.min <= given <= known.max:
        raise UserError(f"{given} is out of range", place=known.name, remedy=remedy)
    return float(given)
