"""Models whose fields are described by the texts below them, read from the source when a JSON Schema is made.

pydantic reads them when a class is made (`use_attribute_docstrings`), which takes a tenth of a second for a scenario's
classes, and only schemas need them.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema


class Documented(BaseModel):
    """Base of such models."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler, /) -> JsonSchemaValue:
        """The class's schema, with descriptions of its fields."""
        made = handler(core_schema)
        properties: dict[str, Any] = handler.resolve_ref_schema(made).get("properties", {})
        for name, text in texts_of(cls).items():
            field = cls.model_fields.get(name)
            said = name if field is None or field.alias is None else field.alias
            if said in properties:
                properties[said].setdefault("description", text)
        return made


def texts_of(model: type[BaseModel]) -> dict[str, str]:
    """Texts below the fields of a class and of its bases; a field that a class has anew has its own, or none."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base not in (BaseModel, Documented):
            found = {name: text for name, text in found.items() if name not in base.__annotations__}
            found.update(_own_texts(base))
    return found


@cache
def _own_texts(model: type[BaseModel]) -> dict[str, str]:
    """Texts below the fields that a class has itself."""
    try:
        source = inspect.getsource(model)
    except OSError:
        # Without its source a class has no texts.
        return {}
    (made,) = ast.parse(textwrap.dedent(source)).body
    body = made.body if isinstance(made, ast.ClassDef) else []
    found: dict[str, str] = {}
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as said)):
                found[name] = inspect.cleandoc(said)
            case _:
                pass
    return found
