"""What all parts of a scenario share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from p4cc.algorithms import entry_named
from p4cc.errors import UserError
from topos.documented import Documented

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

    from p4cc import spec
    from p4cc.algorithms import Algorithm as Entry
    from p4cc.json_data import JsonValue
    from p4cc.user_algorithms.load import UserAlgorithm, UserSender

if TYPE_CHECKING:
    Anything = JsonValue
else:
    Anything = object
"""Any JSON value, such as a scenario's data; pydantic does not check inside it."""
Parameter = int | float | str | bool
"""A parameter of an algorithm; its type, range and default are the registry's."""

_KIND_IS = "The kind, which decides the other fields."
_SAID = "said"
KIND = Field(description=_KIND_IS, json_schema_extra={_SAID: True})
"""Of a kind that data says; in Python the class says it, so that it has a default there."""
USUAL_KIND = Field(description=_KIND_IS)
"""The default kind for data without one."""

Location = tuple[int | str, ...]
"""Steps from the root of a document to a place in it: keys, and places in lists."""
MAX_TIME_NS = 3_600_000_000_000
MAX_FLOW_BYTES = 1 << 50


class Told(Documented):
    """A part whose errors in Python are those of a scenario's file: place, cause, remedy."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
        """The class's schema, without defaults for fields that data must contain."""
        made = super().__get_pydantic_json_schema__(core_schema, handler)
        held = handler.resolve_ref_schema(made)
        kind = held.get("properties", {}).get("kind", {})
        if kind.pop(_SAID, False):
            kind.pop("default", None)
            held["required"] = [name for name in held["properties"] if name in {*held.get("required", []), "kind"}]
        return made

    if not TYPE_CHECKING:

        def __init__(self, /, **data: object) -> None:
            """Checks the values; raises UserError."""
            try:
                super().__init__(**data)
            except ValidationError as error:
                raise refused(type(self).__name__, error) from error

        # Parts of parts, and those of files, are made by pydantic without it, which collects what is wrong.
        __init__.__pydantic_base_init__ = True


def refused(part: str, error: ValidationError) -> UserError:
    """The errors of values that Python gave a part."""
    found = [
        f"{'.'.join((part, *map(str, one['loc'])))}: {one['msg'].removeprefix('Value error, ')}"
        + ("" if isinstance(one["input"], dict | list | BaseModel) else f" (it is {one['input']!r})")
        for one in error.errors()
    ]
    return UserError("\n".join(found), remedy="see 'p4cc schema' for the fields of each part")


class Model(Told):
    """Base of all parts: unknown keys are errors, values are not coerced, nothing changes after the check.

    pydantic builds the validator of a whole scenario when it is first used, and none for each part before.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def listed(value: object) -> object:
    """A list; a text counts as a list of one."""
    return [value] if isinstance(value, str) else value


TimeNs = Annotated[int, Field(ge=0, le=MAX_TIME_NS)]
Pod = Annotated[int, Field(ge=0, le=4_095)]
"""A pod's number, counted from 0."""
FlowBytes = Annotated[int, Field(ge=1, le=MAX_FLOW_BYTES)]
Label = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,31}$")]
Hosts = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=64)]],
    BeforeValidator(listed),
    Field(min_length=1, max_length=4_096, description="Host name or list of host names; * and ? are wildcards."),
]


class Algorithm(Model):
    """An algorithm by its registry name, together with its parameters (`p4cc algorithms` lists them)."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    name: str
    """Registry name; the algorithm's parameters are sibling keys (`p4cc algorithms`)."""
    python: str | None = Field(
        default=None,
        description="A Python class in place of a registered algorithm: `FILE.py:CLASS`, relative to the scenario "
        "(docs/how-to/write-an-algorithm.md).",
        pattern=r"^.+\.py:[A-Za-z_]\w*$",
        max_length=4096,
    )
    _own: UserAlgorithm | None = PrivateAttr(default=None)

    # pydantic's way to give extra fields a type; the base class declares it wider.
    __pydantic_extra__: dict[str, Parameter] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    @model_validator(mode="before")
    @classmethod
    def _class_is_the_name(cls, data: JsonValue) -> JsonValue:
        """Tables and figures call a class by its name."""
        if isinstance(data, dict) and isinstance(text := data.get("python"), str):
            class_name = text.rpartition(":")[2]
            if data.setdefault("name", class_name) != class_name:
                raise ValueError("give either name (a registered algorithm) or python (a class), not both")
        return data

    @property
    def own(self) -> UserAlgorithm | None:
        """The user's class, once the scenario that names it was read."""
        return self._own

    def bring(self, own: UserAlgorithm) -> None:
        """Puts the user's class in its place."""
        self._own = own

    @property
    def entry(self) -> Entry | None:
        """Its entry in the registry, or its class; None for an unknown name."""
        return entry_named(self.name) if self._own is None else self._own.entry

    @property
    def reads_pint(self) -> bool:
        """Whether it goes by the utilisation of its path, which switches write (docs/algorithms/hpcc.md#pint)."""
        return self.entry is not None and self.entry.switch_needs == "path_utilisation"

    def parameters(self) -> dict[str, Parameter]:
        """The parameters given, without the name."""
        return dict(self.__pydantic_extra__)

    def config(self, values: Mapping[str, Parameter], own: list[UserSender]) -> spec.AlgorithmSpec:
        """For the engine: by name, or a user class by its place in `own`, to which it is added."""
        if self._own is None:
            # Parameters are next to the name.
            return cast("spec.AlgorithmSpec", {"name": self.name, **values})
        own.append(self._own.with_values(values))
        return {"name": self.name, "own": len(own) - 1}


class Sender(Model):
    """The algorithms that a sending host runs."""

    congestion_avoidance: Algorithm | None = None
    """How the window evolves after slow start, and in response to marks and losses."""
    slow_start: Algorithm = Algorithm(name="standard")
    """How the window grows in slow start."""
    rate_control: Algorithm | None = Field(
        default=None, description="Rate control algorithm; excludes the other two and requires `transport.kind: rdma`."
    )
    receiver: Algorithm | None = Field(
        default=None,
        description="Receiver of the hosts where its flows end, which then decides what they may send "
        "(docs/algorithms/receivers.md); requires rate_control.",
    )
    transport: dict[str, Parameter] = Field(default={}, description="Fields of `transport` that this sender overrides.")

    def algorithms(self) -> Iterator[tuple[str, Algorithm]]:
        """Its algorithms, with the fields that name them."""
        named = {
            "slow_start": self.slow_start,
            "congestion_avoidance": self.congestion_avoidance,
            "rate_control": self.rate_control,
            "receiver": self.receiver,
        }
        yield from ((kind, one) for kind, one in named.items() if one is not None)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.congestion_avoidance is None) == (self.rate_control is None):
            raise ValueError("give either congestion_avoidance, or rate_control with transport.kind: rdma")
        if self.receiver is not None and self.rate_control is None:
            raise ValueError("a receiver lets paced senders send; give rate_control, such as {name: fixed}, too")
        return self


def dotted(location: Location) -> str:
    """A location as `$.traffic[1].load`."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)


def kinds(union: object) -> tuple[str, ...]:
    """The kinds of a union of models that `kind` tells apart, in its order."""
    models = get_args(get_args(union)[0])
    return tuple(str(get_args(model.model_fields["kind"].annotation)[0]) for model in models)
