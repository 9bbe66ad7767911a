"""Messages as bytes: what is read of them, what is refused, and what is found in the unreadable."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st

from mcp_workbench.errors import RpcError
from mcp_workbench.wire import messages
from mcp_workbench.wire.messages import NotAMessage, NotJson, TooDeep
from tests.support import json_text
from tests.support.json_text import exactly


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"x",
        b"[1,2",
        b"1,2",
        b'{"method":5},{}',
        b'{"id":1,"method":"a"}}',
        b'{"id":1,"method":"a","params":{"x":NaN}}',
        b'{"id":1,"method":"a","params":{"x":Infinity}}',
        b'{"id":1,"method":"a\xff"}',
        b'{"id":1,"method":"a","params":"\xed\xa0\x80"}',
    ],
)
def test_what_is_no_json_is_told_apart(line: bytes) -> None:
    with pytest.raises(NotJson):
        messages.read(line)


@pytest.mark.parametrize(
    "line",
    [
        b"1",
        b"[1]",
        b'["\\ud800"]',
        b"{}",
        b'{"id":1}',
        b'{"method":5}',
        b'{"method":5,"x":"\\ud800"}',
        b'{"id":null,"method":"a"}',
        b'{"id":{},"method":"a"}',
        b'{"id":false,"result":{}}',
    ],
)
def test_what_is_json_and_no_message_is_told_apart(line: bytes) -> None:
    with pytest.raises(NotAMessage):
        messages.read(line)


def test_a_message_too_deep_to_be_read_still_has_its_id() -> None:
    line = b'{"jsonrpc":"2.0","params":%b,"id":"me"}' % (b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(TooDeep) as caught:
        messages.read(line)
    assert caught.value.id == b'"me"'


@settings(max_examples=100, deadline=None, database=None)
@given(params=json_text.objects(json_text.values), id=json_text.strings)
def test_any_params_and_any_id_stay_as_they_were(params: str, id: str) -> None:
    line = f'{{"jsonrpc":"2.0", "id" : {id} ,"method":"a","params": {params} }}'.encode()
    message = messages.read(line)
    assert message.method == "a"
    assert bytes(message.id) == id.encode()
    assert exactly(bytes(message.params)) == exactly(params)


NAMES = st.sampled_from(['"id"', '"method"', '"params"', '"result"', '"error"', '"isError"'])


@settings(max_examples=100, deadline=None, database=None)
@given(value=json_text.objects(json_text.values, NAMES, unique=True))
def test_members_are_found_by_their_brackets(value: str) -> None:
    found = messages.members(value.encode())
    assert [(key, exactly(item)) for key, item in found.items()] == list(exactly(value))


def test_members_are_known_by_what_their_names_spell() -> None:
    text = rb'{"\u0061":1,"b\\":2,"\q":3}'
    assert messages.members(text) == {"a": b"1", "b\\": b"2", "\\q": b"3"}
    assert messages.with_member(text, "a", b"[5]") == text.replace(b"1,", b"[5],")


def test_the_last_of_two_members_is_the_one_that_counts() -> None:
    assert messages.with_member(b'{"a":{"b":1},"a":[2]}', "a", b"3") == b'{"a":{"b":1},"a":3}'


@settings(max_examples=100, deadline=None, database=None)
@given(parts=st.lists(st.sampled_from(["\\ud83d", "\\ude00", "\\\\", "u", "d83d", '"', "x", "\\u00e9"])))
def test_half_a_character_is_mended_and_all_else_stays(parts: list[str]) -> None:
    text = "".join(parts)
    mended = messages.mended(json.dumps(text).encode())
    # Two halves in a row are one character, in JSON as in UTF-16.
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert json.loads(mended) == whole
    assert len(mended) == len(json.dumps(text))


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "fine é \u2028"])
def test_anything_quoted_can_be_encoded(text: str) -> None:
    assert json.loads(messages.encode({"a": [text]})) == {"a": [text]}


WORDINGS = {
    "compact": '{"jsonrpc":"2.0","id":%s,"result":%s}',
    "with spaces": '{"jsonrpc": "2.0", "id": %s, "result": %s}',
    "result first": '{"result":%s,"jsonrpc":"2.0","id":%s}',
}


@pytest.mark.parametrize("wording", WORDINGS)
@pytest.mark.parametrize("kind", [bytes, bytearray])
@given(result=json_text.objects(json_text.values), id=st.integers(0, 10**19))
@settings(max_examples=50)
def test_the_result_of_a_reply_is_found_by_its_words_whatever_it_says(
    wording: str, kind: type[bytes] | type[bytearray], result: str, id: int
) -> None:
    parts = (result, str(id)) if wording == "result first" else (str(id), result)
    line = kind((WORDINGS[wording] % parts).encode())
    found = [read(bytes(line)) for read in messages.WORDINGS]
    assert [text for place, text in found if place == str(id).encode()] == [result.encode()]
    ends = messages.ends_of(line)
    found = [read(ends) for read in messages.WORDINGS]
    (text,) = [text for place, text in found if place == str(id).encode()]
    assert messages.between(line, ends, text) == result.encode()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b'{"jsonrpc":"2.0","id":7}',
        b'{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}',
        b'{"jsonrpc":"2.0","id":7,"error":{"code":1,"result":2}}',
        b'{"jsonrpc":"2.0","id":7,"method":"a","params":{"x":1,"result":2}}',
        b'{"result":1}',
        b'{"result":1,"id":7,"jsonrpc":"2.0"}',
        b'{"result":1,"jsonrpc":"2.0","id":7',
        b'{"id":7,"jsonrpc":"2.0","result":1}',
    ],
)
def test_what_is_not_worded_as_a_reply_has_not_the_id_of_one(line: bytes) -> None:
    for words in (line, messages.ends_of(line)):
        assert b"7" not in [read(words)[0] for read in messages.WORDINGS]


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (b'{"code":-32000,"message":"no","data":[1]}', -32000, "no"),
        (b'{"code":"x","message":"no"}', -32603, "no"),
        (b'{"code":5}', 5, '{"code":5}'),
        (b'"broken"', -32603, '"broken"'),
        (b"{}", -32603, "{}"),
    ],
)
def test_the_error_of_a_careless_server_is_understood(raw: bytes, code: int, message: str) -> None:
    error = messages.read_error(messages.Raw(raw))
    assert (error.code, error.message, error.raw) == (code, message, raw)


def test_a_failure_is_one_line_with_its_data() -> None:
    error = RpcError(-32022, "a\nb", b'{"x":1}')
    line = b"".join(bytes(piece) for piece in messages.failure(b"7", error))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "jsonrpc": "2.0",
        "id": 7,
        "error": {"code": -32022, "message": "a\nb", "data": {"x": 1}},
    }
