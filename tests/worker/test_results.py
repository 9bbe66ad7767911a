"""What a tool may return, and what it may not."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from .conftest import Folder


def returned(folder: Folder, expression: str) -> dict[str, Any]:
    folder.plain(
        "a",
        f"""
        import collections, dataclasses, datetime, decimal, enum, pathlib, uuid
        from mcp_workbench import Audio, Image, Link
        @dataclasses.dataclass
        class Point:
            x: int
            tags: object = None
        class Color(enum.Enum):
            RED = "red"
        Pair = collections.namedtuple("Pair", "a b")
        loop = []
        loop.append(loop)
        deep = []
        for _ in range(100_000):
            deep = [deep]
        return {expression}
        """,
    )
    return folder.start().call("a")


def text(said: str) -> dict[str, str]:
    return {"type": "text", "text": said}


def media(kind: str, mime_type: str) -> dict[str, str]:
    return {"type": kind, "data": base64.b64encode(b"x").decode(), "mimeType": mime_type}


def link(uri: str, name: str) -> dict[str, str]:
    return {"type": "resource_link", "uri": uri, "name": name}


@pytest.mark.parametrize(
    ("expression", "said", "data"),
    [
        ("3", "3", {"result": 3}),
        ("2.5", "2.5", {"result": 2.5}),
        ("True", "true", {"result": True}),
        ("[1, 'é']", '[1, "é"]', {"result": [1, "é"]}),
        ("(1, 2)", "[1, 2]", {"result": [1, 2]}),
        ("Pair(1, 2)", "[1, 2]", {"result": [1, 2]}),
        ("{'a': {'b': None}}", '{"a": {"b": null}}', {"a": {"b": None}}),
        ("{1: 2}", '{"1": 2}', {"1": 2}),
        ("Point(1, [Point(2)])", '{"x": 1, "tags": [{"x": 2, "tags": null}]}', None),
        ("{'when': datetime.date(2026, 1, 2)}", '{"when": "2026-01-02"}', {"when": "2026-01-02"}),
        ("[Color.RED, pathlib.Path('/a'), decimal.Decimal('1.5')]", '["red", "/a", "1.5"]', None),
        ("uuid.UUID(int=0)", '"00000000-0000-0000-0000-000000000000"', None),
        ("{3}", "[3]", {"result": [3]}),
        ("{'type': ['string', 'null']}", '{"type": ["string", "null"]}', {"type": ["string", "null"]}),
        ("{'type': 'text', 'text': 5}", '{"type": "text", "text": 5}', {"type": "text", "text": 5}),
        ("{'type': 'resource', 'resource': 'x'}", '{"type": "resource", "resource": "x"}', None),
        ("['just', 'strings']", '["just", "strings"]', {"result": ["just", "strings"]}),
    ],
)
def test_data_is_json_as_text_and_as_structure(folder: Folder, expression: str, said: str, data: Any) -> None:
    result = returned(folder, expression)
    assert result["content"] == [text(said)]
    if data is not None:
        assert result["structuredContent"] == data
    assert set(result) == {"content", "structuredContent"}


def test_a_pydantic_model_is_its_json(folder: Folder) -> None:
    folder.plain("a", "import pydantic\nclass M(pydantic.BaseModel):\n    content: str = 'c'\nreturn M()")
    folder.plain(
        "b", "import pydantic\nclass M(pydantic.BaseModel):\n    type: str = 'resource'\nreturn [M(), M()]"
    )
    worker = folder.start()
    result = worker.call("a")
    assert result == {"content": [text('{"content": "c"}')], "structuredContent": {"content": "c"}}
    assert worker.call("b")["structuredContent"] == {"result": [{"type": "resource"}] * 2}


@pytest.mark.parametrize(
    ("expression", "content"),
    [
        ("'hello'", [text("hello")]),
        ("''", [text("")]),
        ("None", []),
        ("Image(b'x')", [media("image", "image/png")]),
        ("Image(b'x', mime_type='image/webp')", [media("image", "image/webp")]),
        ("Audio(b'x')", [media("audio", "audio/wav")]),
        ("Link('file:///a', 'A')", [link("file:///a", "A")]),
        ("['see', Link('file:///a')]", [text("see"), link("file:///a", "file:///a")]),
        ("{'type': 'text', 'text': 'ready'}", [text("ready")]),
        ("[{'type': 'text', 'text': 'one'}, 'two']", [text("one"), text("two")]),
        ("{'content': ['one', Image(b'x')]}", [text("one"), media("image", "image/png")]),
    ],
)
def test_text_and_media_are_content(folder: Folder, expression: str, content: Any) -> None:
    assert returned(folder, expression) == {"content": content}


def test_an_image_from_a_file_knows_its_type(folder: Folder) -> None:
    picture = folder.path.parent / "x.JPEG"
    picture.write_bytes(b"jpeg")
    (block,) = returned(folder, f"Image(path={str(picture)!r})")["content"]
    assert (block["mimeType"], base64.b64decode(block["data"])) == ("image/jpeg", b"jpeg")


def test_a_dict_with_content_is_the_result_itself(folder: Folder) -> None:
    whole = {
        "content": [text("t"), {"type": "of the future", "x": 1}],
        "structuredContent": {"a": 1},
        "isError": True,
        "_meta": {"m": 1},
        "more": [1],
    }
    assert returned(folder, repr(whole)) == whole


def test_models_of_the_official_sdk_are_content_and_results(folder: Folder) -> None:
    folder.plain("a", "from mcp.types import TextContent\nreturn TextContent(type='text', text='t')")
    folder.plain(
        "b",
        "from mcp.types import CallToolResult, TextContent\n"
        "return CallToolResult(content=[TextContent(type='text', text='t')], is_error=True)",
    )
    worker = folder.start()
    assert worker.call("a")["content"] == [text("t")]
    assert worker.error("b") == "t"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("object()", "a value of type object has no JSON form"),
        ("{'a': object()}", "object has no JSON form"),
        ("b'bytes'", "bytes has no JSON form"),
        ("print", "builtin_function_or_method has no JSON form"),
        ("float('nan')", "Out of range float"),
        ("{(1, 2): 3}", "keys must be str"),
        ("loop", "Circular reference"),
        ("deep", "nested too deeply"),
        ("{'content': 'text'}", "a dict with 'content' is a whole result"),
        ("{'content': [3]}", "a content block is a dict with 'type', and this is int"),
        ("{'content': [{}]}", "a content block has no 'type'"),
        ("{'content': [{'type': 'text'}]}", "a content block of type 'text' has no 'text'"),
        ("{'content': [{'type': 'x', 'y': object()}]}", "object has no JSON form"),
        ("Image(path='/nowhere')", "No such file"),
    ],
)
def test_what_cannot_be_content_is_a_clear_error(folder: Folder, expression: str, reason: str) -> None:
    result = returned(folder, expression)
    assert result["isError"] is True
    said = result["content"][0]["text"]
    assert said.startswith("What tool 'a' returned cannot be turned into content: ")
    assert reason in said


def test_a_lone_surrogate_does_not_spoil_the_line(folder: Folder) -> None:
    assert returned(folder, r"'name \udc80.txt'")["content"] == [text("name ?.txt")]
