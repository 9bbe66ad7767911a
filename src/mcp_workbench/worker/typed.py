"""The typed form: a function whose signature is the schema. The only module here that needs pydantic."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any, cast, get_args, get_type_hints

from . import docstrings
from .calls import InvalidArguments
from .content import NoContent, is_ours
from .context import Context
from .forms import FORM, Tool
from .problems import BadSignature, NeedsPydantic
from .results import json_text, result_of

try:
    from pydantic import ConfigDict, TypeAdapter, ValidationError, create_model
    from pydantic.fields import FieldInfo
    from pydantic.json_schema import GenerateJsonSchema
except ImportError:  # not there, or pydantic 1
    raise NeedsPydantic from None

Schema = dict[str, Any]


class _Untitled(GenerateJsonSchema):
    """Titles that only repeat a field's name cost a model's attention and say nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class TypedTool(Tool):
    def __init__(self, function: Callable[..., Any], said: dict[str, Any]) -> None:
        hints = _hints(function)
        self._parameters = _Parameters(function, hints)
        self._returns = _Returns(hints["return"]) if "return" in hints else None
        documented = docstrings.read(function.__doc__)
        definition: Schema = {
            "name": said.get("name", function.__name__),
            "inputSchema": self._parameters.schema(documented.parameters),
            "_meta": {FORM: "typed"},
        }
        description = said.get("description") or documented.description
        if description:
            definition["description"] = description
        for key in ("title", "annotations"):
            if key in said:
                definition[key] = said[key]
        if self._returns is not None and self._returns.schema is not None:
            definition["outputSchema"] = self._returns.schema
        super().__init__(definition["name"], definition, function)

    def begin(self, arguments: dict[str, Any], context: Context) -> Any:
        return self.function(**self._parameters.values(self.name, arguments, context))

    def result(self, value: Any) -> dict[str, Any]:
        if self._returns is None or self._returns.schema is None:
            return result_of(value)
        return self._returns.result(value)


class _Parameters:
    """A function's parameters as a pydantic model. Fields are numbered and have the parameters' names as
    aliases, since a model may not have a field named `json`, `copy` or `_x`."""

    def __init__(self, function: Callable[..., Any], hints: dict[str, Any]) -> None:
        self._names: dict[str, str] = {}
        self._context: str | None = None
        fields: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
                raise BadSignature(
                    f"parameter {name!r} of {function.__name__}() has no name that a caller could give",
                    "Write plain parameters instead of *args, **kwargs and those before '/'",
                )
            if hints.get(name) is Context or Context in get_args(hints.get(name)):
                self._context = name
                continue
            default = parameter.default
            if default is parameter.empty:
                default = _said_default(hints.get(name))
            field = f"parameter_{len(self._names)}"
            self._names[field] = name
            fields[field] = (hints.get(name, Any), default)
        # Dataclasses among the parameters inherit this configuration, with fields that keep their names.
        config = ConfigDict(extra="forbid", alias_generator=lambda field: self._names.get(field, field))
        try:
            self._model = create_model(function.__name__, __config__=config, **fields)
            self._schema = self._model.model_json_schema(by_alias=True, schema_generator=_Untitled)
        except Exception as error:
            raise BadSignature(
                f"the parameters of {function.__name__}() have no JSON Schema: {str(error).splitlines()[0]}",
                "Annotate them with types that JSON can carry",
            ) from error

    def schema(self, described: dict[str, str]) -> Schema:
        schema = dict(self._schema)
        for noise in ("title", "description"):
            schema.pop(noise, None)
        schema.setdefault("properties", {})
        for name, property in schema["properties"].items():
            if name in described:
                property.setdefault("description", described[name])
        return schema

    def values(self, tool: str, arguments: dict[str, Any], context: Context) -> dict[str, Any]:
        """The keyword arguments of a call. Strict, as the announced schema is: `"5"` is no integer."""
        try:
            model = self._model.model_validate_json(json.dumps(arguments), strict=True)
        except ValidationError as error:
            raise InvalidArguments(_explain(tool, error, list(self._names.values()))) from None
        values = {name: getattr(model, field) for field, name in self._names.items()}
        if self._context is not None:
            values[self._context] = context
        return values


class _Returns:
    """A return annotation: the output schema, or None where it has none, and the results that fit it."""

    def __init__(self, annotation: Any) -> None:
        self.schema: Schema | None = None
        if annotation in (None, type(None), Any):
            return
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(annotation)
            schema = self._adapter.json_schema(mode="serialization", schema_generator=_Untitled)
        except Exception:  # a class of ours, an Image, anything that is content and not data
            return
        self._wrapped = _kind(schema) != "object"
        self.schema = _wrap(schema) if self._wrapped else _unfold(schema)

    def result(self, value: Any) -> dict[str, Any]:
        if is_ours(value):
            raise NoContent("its return annotation promises data, and it returned content")
        if isinstance(value, dict) and isinstance(cast("Any", value).get("content"), list):
            # A whole result; the announced schema is owed all the same.
            result = result_of(value)
            if not result.get("isError"):
                result.setdefault("structuredContent", value)
            return result
        try:
            data = self._adapter.dump_python(self._adapter.validate_python(value), mode="json", by_alias=True)
        except ValidationError as error:
            first = error.errors()[0]
            place = "".join(f" in {part!r}" for part in first["loc"])
            raise NoContent(f"its return annotation does not allow it{place}: {first['msg']}") from None
        text = data if isinstance(data, str) else json_text(data)
        structured = {"result": data} if self._wrapped else data
        return {"content": [{"type": "text", "text": text}], "structuredContent": structured}


def _said_default(hint: Any) -> Any:
    """The one in `Annotated[int, Field(default=3)]`, which pydantic leaves to the parameter; else none."""
    for said in reversed(get_args(hint)[1:]):
        if isinstance(said, FieldInfo) and said.default_factory is None and not said.is_required():
            return said.default
    return ...


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(inspect.unwrap(function), include_extras=True)
    except Exception as error:
        raise BadSignature(
            f"the annotations of {function.__name__}() cannot be read: {error}", "Correct or import the names"
        ) from error


def _target(schema: Schema) -> Schema:
    reference = schema.get("$ref", "")
    return schema["$defs"][reference.rpartition("/")[2]] if reference.startswith("#/$defs/") else schema


def _kind(schema: Schema) -> Any:
    return _target(schema).get("type")


def _unfold(schema: Schema) -> Schema:
    """MCP wants `"type": "object"` at the root, where a recursive model has a reference."""
    if "$ref" not in schema:
        return schema
    return {**_target(schema), "$defs": schema["$defs"]}


def _wrap(schema: Schema) -> Schema:
    definitions = schema.pop("$defs", None)
    wrapped: Schema = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    if definitions is not None:
        wrapped["$defs"] = definitions
    return wrapped


def _explain(tool: str, error: ValidationError, names: list[str]) -> str:
    """Each argument that does not fit: its name, what was expected, what came."""
    problems: list[str] = []
    for each in error.errors():
        where = ".".join(map(str, each["loc"])) or "arguments"
        if each["type"] == "missing":
            problems.append(f"{where}: required, but missing")
        elif each["type"] == "extra_forbidden":
            known = ", ".join(names) or "none"
            problems.append(f"{where}: no such argument (expected: {known})")
        else:
            problems.append(f"{where}: {each['msg']}, but got {_shown(each['input'])}")
    return f"Invalid arguments for tool {tool!r}: " + "; ".join(problems)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:79] + "…"
