"""Models whose fields are described by the texts below them, read from the source when a JSON Schema is made.

pydantic reads them when a class is made (`use_attribute_docstrings`), which takes a tenth of a second for a scenario's
classes, and only schemas need them.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

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
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in texts_of(cls).items():
            field = cls.model_fields.get(name)
            key = name if field is None or field.alias is None else field.alias
            if key in properties:
                properties[key].setdefault("description", text)
        return schema


def texts_of(model: type[BaseModel]) -> dict[str, str]:
    """Texts below the fields of a class and its bases; those of a redefined field are replaced."""
    result: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base not in (BaseModel, Documented):
            result = {name: text for name, text in result.items() if name not in base.__annotations__}
            result.update(_own_texts(base))
    return result


@cache
def _own_texts(model: type[BaseModel]) -> dict[str, str]:
    """Texts below the fields that a class defines."""
    statement = _classes(model.__module__).get(model.__qualname__)
    body = statement.body if statement else []
    own_texts: dict[str, str] = {}
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as doc)):
                own_texts[name] = inspect.cleandoc(doc)
            case _:
                pass
    return own_texts


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The classes of a module by qualified name: `inspect.getsource` would parse the module anew for each."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        # Without its source a class has no texts.
        return {}
    found: dict[str, ast.ClassDef] = {}
    open_scopes: list[tuple[str, ast.AST]] = [("", tree)]
    while open_scopes:
        prefix, scope = open_scopes.pop()
        for node in ast.iter_child_nodes(scope):
            match node:
                case ast.ClassDef(name=name):
                    found[prefix + name] = node
                    open_scopes.append((f"{prefix}{name}.", node))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    open_scopes.append((f"{prefix}{name}.<locals>.", node))
                case _:
                    pass
    return found
