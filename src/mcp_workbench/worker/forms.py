"""The two forms of a tool file, and the tools that a loaded module holds. Imports no pydantic."""

from __future__ import annotations

import inspect
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, TypeVar, cast, overload
from zlib import crc32

from .context import Context
from .problems import BadDefinition, BadName, BadSchema, BadSignature, NoTool, Problem
from .results import result_of
from .wire import encode_json

FORM = "workbench/form"
VERSION = "workbench/version"
FILE = "workbench/file"
RESULT_SCHEMA = "workbench/resultSchema"

F = TypeVar("F", bound=Callable[..., Any])
Judge = Callable[[list[dict[str, Any]]], "str | None"]
"""Says what is wrong with the first of these JSON Schemas that is faulty."""
Annotations = dict[str, Any]

_MARK = "__mcp_workbench_tool__"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}\Z")
_TYPES = {"string", "number", "integer", "boolean", "object", "array", "null"}
# Of a plain schema, what is said of the tool and not of its arguments.
_ABOUT_TOOL = ("name", "title", "description", "outputSchema", "annotations", "icons", "_meta")


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *,
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    annotations: Annotations | None = None,
) -> Callable[[F], F]: ...
def tool(function: Any = None, /, **said: Any) -> Any:
    """Make a function a tool: its signature is the schema, its docstring the description.

    The function itself stays what it is and can be called as before.
    """
    if function is None:
        unknown = said.keys() - {"name", "title", "description", "annotations"}
        if unknown:
            raise TypeError(f"@tool has no option {sorted(unknown)[0]!r}")
        for key, value in said.items():
            wanted = dict if key == "annotations" else str
            if not isinstance(value, (wanted, type(None))):
                raise TypeError(f"@tool: {key} is a {wanted.__name__}, not {type(value).__name__}")
        return partial(_mark, said)
    return _mark({}, function)


def _mark(said: dict[str, Any], function: Any) -> Any:
    if not inspect.isroutine(function):  # also what can be called: it has no name, and would not be found
        what = "a class" if isinstance(function, type) else type(function).__name__
        raise TypeError(f"@tool stands before a function, not before {what}")
    setattr(function, _MARK, {key: value for key, value in said.items() if value is not None})
    return function


class Tool(ABC):
    """A tool as its folder offers it. `begin` gives the value, or the coroutine that will."""

    def __init__(self, name: str, definition: dict[str, Any], function: Callable[..., Any]) -> None:
        if not _NAME.match(name):
            raise BadName(name)
        self.name = name
        self.definition = definition
        self.function = function
        self.is_async = is_async(function)
        self.version = 0
        """Tells what is announced of this tool from what was announced before and will be later."""

    def seal(self) -> None:
        """Give the definition its version: by its content, so that all workers of a folder have the same.

        Raises BadDefinition for what could not be sent.
        """
        try:
            said = encode_json(self.definition)
        except Exception as error:  # also of a foreign object's own code
            raise BadDefinition(self.name, error) from error
        self.version = crc32(said.encode("utf-8", "replace"))
        self.definition["_meta"][VERSION] = self.version

    @abstractmethod
    def begin(self, arguments: dict[str, Any], context: Context) -> Any:
        """Raises InvalidArguments before the function runs, or whatever the function raises."""

    def result(self, value: Any) -> dict[str, Any]:
        return result_of(value)


class Params:
    """`request.params` of the plain form."""

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        self.name = name
        self.arguments = arguments


class Request:
    """What the plain form's `default` gets: `request.params.name`, `request.params.arguments`."""

    method = "tools/call"

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        self.params = Params(name, arguments)


class PlainTool(Tool):
    """A schema and a function. Its arguments were validated by the workbench."""

    def __init__(self, schema: dict[str, Any], function: Callable[..., Any]) -> None:
        about = {key: schema[key] for key in _ABOUT_TOOL if key in schema}
        result_schema = about.pop("outputSchema", None)
        meta = {**about.pop("_meta", {}), FORM: "plain"}
        if result_schema is not None:
            meta[RESULT_SCHEMA] = result_schema
        about["inputSchema"] = {key: value for key, value in schema.items() if key not in _ABOUT_TOOL}
        about["_meta"] = meta
        super().__init__(schema["name"], about, function)
        self._takes_context = takes_context(function)

    def doubtful(self) -> list[dict[str, Any]]:
        """Its schemas that say more than `check_schema` understands."""
        schema: dict[str, Any] = self.definition["inputSchema"]
        doubtful = [] if _is_simple(schema) else [schema]
        if RESULT_SCHEMA in self.definition["_meta"]:
            doubtful.append(self.definition["_meta"][RESULT_SCHEMA])
        return doubtful

    def begin(self, arguments: dict[str, Any], context: Context) -> Any:
        request = Request(self.name, arguments)
        return self.function(request, context) if self._takes_context else self.function(request)


def tools_of(module: ModuleType, file: str, warn: Callable[[str], None], judge: Judge) -> list[Tool]:
    """The tools of a loaded file, in its order. Raises Problem."""
    found: list[Tool] = []
    schema = getattr(module, "schema", None)
    default = getattr(module, "default", None)
    typed = _typed_functions(module)
    if not typed or (schema is not None and default is not None):
        if schema is None and default is None:
            raise NoTool
        plain = plain_tool(schema, default, warn)
        if (doubtful := plain.doubtful()) and (fault := judge(doubtful)):
            raise BadSchema(f"its schema is faulty: {fault}", "Correct it and save the file")
        found.append(plain)
    if typed:
        from .typed import TypedTool

        found.extend(TypedTool(function, said) for function, said in typed)
    names: set[str] = set()
    for each in found:
        if each.name in names:
            raise Problem(f"it has two tools named {each.name!r}", "Give one of them another name")
        names.add(each.name)
        each.definition["_meta"][FILE] = file
        each.seal()
    return found


def _typed_functions(module: ModuleType) -> list[tuple[Callable[..., Any], dict[str, Any]]]:
    """The functions with @tool that were written in this file, not those it imported."""
    found: dict[int, tuple[Callable[..., Any], dict[str, Any]]] = {}
    for value in vars(module).values():
        said = getattr(value, _MARK, None) if inspect.isroutine(value) else None
        if said is not None and getattr(value, "__module__", None) == module.__name__:
            found.setdefault(id(value), (cast("Callable[..., Any]", value), said))
    return list(found.values())


def plain_tool(schema: Any, default: Any, warn: Callable[[str], None]) -> PlainTool:
    if schema is None:
        raise BadSchema("it has a function `default` but no `schema`", "Add a dict named `schema`")
    check_schema(schema)
    if not callable(default):
        raise BadSignature(
            "it has a `schema` but no function `default`", "Add: async def default(request): …"
        )
    for name, described in schema["properties"].items():
        missing = [key for key in ("type", "description") if key not in described and "$ref" not in described]
        if missing:
            warn(f"property {name!r} has no {' and no '.join(missing)}")
    return PlainTool(cast("dict[str, Any]", schema), default)


def check_schema(schema: Any) -> None:
    """The parts that every plain schema needs; the rest of JSON Schema is the workbench's to check."""
    if not isinstance(schema, dict):
        raise BadSchema(f"its `schema` is no dict but {type(schema).__name__}", "Write: schema = {…}")
    schema = cast("dict[str, Any]", schema)
    for key in ("name", "description"):
        if not isinstance(schema.get(key), str) or not schema[key].strip():
            raise BadSchema(f"its schema has no {key!r}", f'Add: "{key}": "…"')
    if not _NAME.match(schema["name"]):
        raise BadName(schema["name"])
    if schema.get("type") != "object":
        raise BadSchema("its schema is no object schema", 'Add: "type": "object"')
    if not isinstance(schema.get("properties"), dict):
        raise BadSchema("its schema has no 'properties'", 'Add: "properties": {…}; {} for a tool without any')
    for name, described in schema["properties"].items():
        _check_property(name, described)
    required = schema.get("required", [])
    if not isinstance(required, list):
        raise BadSchema("its 'required' is no list", 'Write: "required": ["name", …]')
    for name in cast("list[Any]", required):
        if name not in schema["properties"]:
            raise BadSchema(
                f"'required' names {name!r}, which is no property",
                f"Add {name!r} to 'properties' or remove it",
            )
    if not isinstance(schema.get("outputSchema", {}), dict):
        raise BadSchema("its 'outputSchema' is no dict", "Write an object schema or leave it out")
    try:
        json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadSchema(f"its schema is no JSON: {error}", "Use dicts, lists, strings, numbers") from None


def _check_property(name: Any, described: Any) -> None:
    if not isinstance(name, str) or not isinstance(described, dict):
        raise BadSchema(f"property {name!r} is no schema", 'Write: "name": {"type": "string", …}')
    described = cast("dict[str, Any]", described)
    kinds: Any = described.get("type", [])
    for kind in cast("list[Any]", kinds if isinstance(kinds, list) else [kinds]):
        if kind not in _TYPES:
            raise BadSchema(
                f"property {name!r} has the type {kind!r}", f"Use one of {', '.join(sorted(_TYPES))}"
            )
    if not isinstance(described.get("enum", []), list):
        raise BadSchema(f"the 'enum' of property {name!r} is no list", 'Write: "enum": ["a", "b"]')


def _is_simple(schema: dict[str, Any]) -> bool:
    """Whether a schema that `check_schema` let pass has nothing that only a validator could judge."""
    required = schema.get("required", [])
    return (
        schema.keys() <= {"type", "properties", "required"}
        and len(set(required)) == len(required)
        and all(
            described.keys() <= {"type", "description", "enum", "default"}
            and isinstance(described.get("type", ""), str)
            and isinstance(described.get("description", ""), str)
            for described in schema["properties"].values()
        )
    )


def takes_context(function: Callable[..., Any]) -> bool:
    """Whether a plain form's `default` wants the context as its second argument."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    positional = [
        each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if not positional and not any(each.kind is each.VAR_POSITIONAL for each in parameters):
        raise BadSignature("its function `default` takes no request", "Write: async def default(request): …")
    return len(positional) > 1 and positional[1].default is inspect.Parameter.empty


def is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 (asks for the method itself, not whether there is one)
    )
