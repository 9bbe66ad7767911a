import json
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from mcp_workbench.journal.arguments import Arguments
from mcp_workbench.journal.masking import MASKED, Mask, Sensitivity

CANARY = 'canary-9d"\\/é\n1f'
PLAIN_CANARY = "canary-77aa"
LIMIT = 16384


def fit(
    raw: bytes, *, limit: int = LIMIT, secrets: tuple[str, ...] = (), redact: tuple[str, ...] = ()
) -> Any:
    return json.loads(Arguments(Mask(secrets, redact), limit).json(raw))


def encoded(value: object, *, ensure_ascii: bool = True) -> bytes:
    return json.dumps(value, ensure_ascii=ensure_ascii).encode("utf-8", "surrogatepass")


def test_arguments_without_secrets_are_taken_as_they_are():
    raw = b'{"path": "/etc/hosts", "lines": [1, 2.50, 1e400, 123456789012345678901234567890], "none": null}'
    assert Arguments(Mask((), ()), LIMIT).json(raw) == raw.decode()


@pytest.mark.parametrize(
    ("raw", "logged"),
    [
        (b'{"password":"x","n":1}', {"password": MASKED, "n": 1}),
        (b'{"pwd":1234,"passphrase":true,"pass":null}', {"pwd": MASKED, "passphrase": MASKED, "pass": None}),
        (b'{"apiKey":"x","x-api-key":"x"}', {"apiKey": MASKED, "x-api-key": MASKED}),
        (b'{"max_tokens":500,"tokens":[1,"a"]}', {"max_tokens": 500, "tokens": [1, MASKED]}),
        (b'{"cookies":[{"name":"a","ttl":1}],"b":"b"}', {"cookies": [{"name": MASKED, "ttl": 1}], "b": "b"}),
        (b'{"headers":{"Authorization":"Bearer x"}}', {"headers": {"Authorization": MASKED}}),
        (b'{"\\u0070assword":"x"}', {"password": MASKED}),
        (b'{"credentials":{"user":"u"},"key":"P-1"}', {"credentials": {"user": MASKED}, "key": "P-1"}),
        (b'{"author":"a","tokenizer":"b","secretary":"c","passage":"d"}', None),
        (b'[{"name":"PWD","value":7},{"value":"b"}]', [{"name": "PWD", "value": MASKED}, {"value": "b"}]),
        (b'{"Key":"auth","n":1,"Value":"x","b":"c"}', {"Key": "auth", "n": 1, "Value": MASKED, "b": "c"}),
        (b'{"name":"Password policy","value":"strict"}', None),
        (b'{"a":{"name":"token"},"value":"x"}', None),
    ],
)  # fmt: skip
def test_values_under_telling_keys_are_masked_and_others_are_not(raw: bytes, logged: Any):
    assert fit(raw) == (logged if logged is not None else json.loads(raw))


@pytest.mark.parametrize(
    "key",
    [
        *("dbPass", "db2Pass", "DB_PASS", "pass", "Pass", "userPassword", "passwd", "PWD"),
        *("userAuth", "basicAuth", "oAuth", "oauth", "proxy_auth", "X-Authentication", "Proxy-Authorization"),
        *("ssh_key", "sshKey", "SSH-Keys", "apiKey", "refreshToken", "Set-Cookie", "clientSecret"),
    ],
)  # fmt: skip
def test_a_telling_key_is_known_in_every_spelling(key: str):
    mask = Mask((), ())
    assert mask.sensitivity(key)
    assert mask.may_touch(json.dumps({key: 1}))


@pytest.mark.parametrize(
    "key",
    [
        *("key", "keys", "primaryKey", "foreign_key", "keyboard", "monkey", "sshd_keyboard"),
        *("author", "authors", "authenticated", "authenticationMethod", "passed", "passenger"),
        *("bypass", "byPass", "allowByPass", "compass", "Compass", "COMPASS", "trespass"),
    ],
)
def test_an_ordinary_key_tells_nothing(key: str):
    assert not Mask((), ()).sensitivity(key)


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ('{"password": "x",  "n": 1.50}', '{"password": "[masked]",  "n": 1.50}'),
        ('[{"pwd": 1,\n"é": "\\u00e9"}]', '[{"pwd": "[masked]",\n"é": "\\u00e9"}]'),
        ('{"pass": null, "pwd": [true]}', '{"pass": null, "pwd": ["[masked]"]}'),
        (' {"tokens": 500, "auth": {"a": ["x", 1]}}', ' {"tokens": 500, "auth": {"a": ["[masked]", 1]}}'),
        ('{"p\\u0061ssword": "x"}', '{"p\\u0061ssword": "[masked]"}'),
        ('{"name":"userAuth","value":"x"}', '{"name":"userAuth","value":"[masked]"}'),
        ('{"token":"a"}\n{"token":"b"}\n', '{"token":"[masked]"}\n{"token":"[masked]"}\n'),
        ('{"author": "a", "key": "b", "note": "the token is \\"c\\""}', None),
        ('the "token": "of" a friend', None),
        ('["\\q", }{ ]] "token', None),
        ("{", None),
        ('"', None),
    ],
)  # fmt: skip
def test_a_string_that_is_json_itself_is_looked_into_and_otherwise_left_as_it_is(
    text: str, logged: str | None
):
    assert fit(encoded({"a": [text]})) == {"a": [logged if logged is not None else text]}


def test_json_in_strings_in_json_in_strings_is_looked_into():
    def nested(secret: str) -> Any:
        inner = json.dumps({"token": secret, "n": 1})
        return {"a": json.dumps({"b": json.dumps([inner])}), "c": json.dumps(inner)}

    assert fit(encoded(nested("x"))) == nested(MASKED)


def test_json_in_a_string_that_is_cut_is_masked_as_far_as_it_is_kept():
    for length in (50, 90, 150, 5000):
        text = json.dumps({"a": "y" * length, "password": "canary" * 30, "pwd": 77777777, "b": "x" * 5000})
        logged = fit(encoded({"text": text, "deep": [text]}), limit=100)
        assert "can" not in json.dumps(logged)
        assert "777" not in json.dumps(logged)


def test_an_error_that_is_json_is_looked_into():
    text = Arguments(Mask((), ()), LIMIT).text('{"error": "denied", "token": "x"}')
    assert json.loads(text) == '{"error": "denied", "token": "[masked]"}'


def test_a_known_secret_is_masked_wherever_it_is_and_however_it_is_written():
    inner = json.dumps({"deep": CANARY})
    for ensure_ascii in (True, False):
        raw = encoded({"a": f"x{CANARY}y", CANARY: [CANARY], "json": inner}, ensure_ascii=ensure_ascii)
        text = Arguments(Mask((CANARY,), ()), LIMIT).json(raw)
        assert "canary" not in text
        assert json.loads(text)["a"] == f"x{MASKED}y"


def test_a_secret_that_is_spelled_in_escapes_is_masked():
    spelled = "".join(f"\\u{ord(character):04x}" for character in PLAIN_CANARY)
    assert fit(f'{{"a":"{spelled}"}}'.encode(), secrets=(PLAIN_CANARY,)) == {"a": MASKED}
    assert fit(rb'{"a":"b\/c-some-url"}', secrets=("b/c-some-url",)) == {"a": MASKED}


def test_a_secret_that_is_a_number_is_masked():
    assert fit(b'{"a":[1,48151623,2]}', secrets=("48151623",)) == {"a": [1, MASKED, 2]}


def test_the_lines_of_a_private_key_are_secrets_too():
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\n-----END PRIVATE KEY-----\n"
    assert "MIIEv" not in json.dumps(fit(encoded({"a": "got MIIEvQIBADANBgkqhkiG9w0BAQ"}), secrets=(key,)))


def test_the_users_own_patterns_hold_for_keys_and_inside_values():
    raw = b'{"Iban":"DE1","note":"call 4711-0815 now","n":5}'
    logged = {"Iban": MASKED, "note": f"call {MASKED} now", "n": 5}
    assert fit(raw, redact=("^iban$", r"\d{4}-\d{4}")) == logged


def test_a_long_string_is_cut_and_what_comes_after_it_is_kept():
    raw = encoded({"content": 'say "hi"\n' * 50_000, "path": "/x", "mode": "w"})
    logged = fit(raw)
    assert logged["content"].startswith('say "hi"\n')
    assert logged["content"].endswith(" bytes]")
    assert len(logged["content"]) < LIMIT + 40
    assert (logged["path"], logged["mode"]) == ("/x", "w")


def test_a_long_list_is_cut_at_a_whole_number():
    logged = fit(encoded({"vector": list(range(100_000)), "top": 3}))
    assert logged["vector"][:-1] == list(range(len(logged["vector"]) - 1))
    assert logged["vector"][-1].startswith("[cut, ")
    assert logged["top"] == 3


def test_a_long_list_of_short_lists_is_cut():
    logged = fit(encoded({"points": [[n, -n] for n in range(10_000)]}))
    assert LIMIT / 2 < len(json.dumps(logged)) < 2 * LIMIT


def test_a_great_many_arguments_are_cut_as_a_whole():
    logged = fit(encoded({f"name{n}": "x" * 100 for n in range(5000)}))
    assert 4 * LIMIT < len(json.dumps(logged)) < 5 * LIMIT
    assert logged["…"].startswith("[cut, ")


def test_a_secret_is_not_half_shown_by_a_cut():
    for before in range(60, 110):
        for text in ("x" * before + PLAIN_CANARY + "y" * 1000, ("x" * before + PLAIN_CANARY) * 50):
            logged = json.dumps(fit(encoded({"a": text, "b": [text]}), limit=100, secrets=(PLAIN_CANARY,)))
            assert "can" not in logged


def test_nesting_without_end_is_cut():
    for depth in (100, 5000, 500_000):
        logged = fit(b'{"a":' + b"[" * depth + b"]" * depth + b"}")
        assert "cut" in json.dumps(logged) or "not readable" in json.dumps(logged)


@pytest.mark.parametrize(
    "raw", [b"", b"nonsense", b'{"a":', b'{"a":"\\q\\u00"}', b"\xff\xfe", b'{"password":}']
)
def test_what_is_not_json_is_not_shown(raw: bytes):
    assert fit(raw) == {"…": f"[not readable, {len(raw)} bytes]"}


def test_what_is_no_character_becomes_the_replacement_character():
    assert fit(b'{"a":"\xff","b":"\\ud800"}') == {"a": "\ufffd", "b": "\ufffd"}


def test_what_could_command_a_terminal_stays_escaped():
    text = Arguments(Mask((), ()), LIMIT).json(
        encoded({"a": "\x1b[2J\x7f\x9b\u2028\u202e\r\n"}, ensure_ascii=False)
    )
    assert text == '{"a":"\\u001b[2J\\u007f\\u009b\\u2028\\u202e\\r\\n"}'


texts = st.text(max_size=20) | st.builds(
    "{}{}{}".format, st.text(max_size=5), st.sampled_from([CANARY, PLAIN_CANARY]), st.text(max_size=5)
)
keys = texts | st.sampled_from(["password", "apiKey", "token", "path", "\ud800"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)
)
objects = st.dictionaries(keys, values, max_size=5)
MASK = Mask((CANARY, PLAIN_CANARY), ())


def expected(value: Any, level: Sensitivity = Sensitivity.NONE) -> Any:
    """What the log should say, told over decoded values."""
    if isinstance(value, dict):
        return {
            clean(key): expected(inner, max(level, MASK.sensitivity(key))) for key, inner in value.items()
        }
    if isinstance(value, list):
        return [expected(inner, level) for inner in value]
    if isinstance(value, str):
        return MASKED if level else clean(value)
    return MASKED if level is Sensitivity.ALL and value is not None else value


def leaks(text: str) -> bool:
    """Tells by beginnings that are no literals here, since Hypothesis tries the literals that it finds."""
    return CANARY[:9] in text or PLAIN_CANARY[:9] in text


def clean(text: str) -> str:
    text = text.replace(CANARY, MASKED).replace(PLAIN_CANARY, MASKED)
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)


@settings(deadline=None)
@given(objects, st.booleans())
@example({"a": "\u2028\x85\x7f\x00"}, False)
def test_any_arguments_are_one_line_of_json_without_secrets_and_otherwise_the_same(
    value: Any, ensure_ascii: bool
):
    text = Arguments(MASK, LIMIT).json(encoded(value, ensure_ascii=ensure_ascii))
    assert len(text.splitlines()) == 1
    text.encode()
    logged = json.loads(text)
    if ensure_ascii or "\\ud800" not in json.dumps(value):  # which as UTF-8 is three wrong bytes
        assert logged == expected(value)
    assert not leaks(text)


@settings(deadline=None)
@given(objects, st.booleans())
def test_any_json_in_a_string_is_masked_like_any_other_and_otherwise_the_same(value: Any, ensure_ascii: bool):
    text = json.dumps(value, ensure_ascii=ensure_ascii)
    found = json.loads(Arguments(MASK, LIMIT).json(encoded({"a": text})))["a"]
    assert not leaks(found)
    if "\\ud" not in json.dumps(value):  # half a pair, which is no character
        assert json.loads(found) == expected(value)


@settings(deadline=None)
@given(objects, st.integers(5, 80))
def test_any_arguments_stay_json_when_they_are_cut(value: Any, limit: int):
    text = Arguments(MASK, limit).json(encoded(value))
    assert isinstance(json.loads(text), dict)
    assert not text.startswith('{"…":"[not readable')
    assert not leaks(text)


@settings(deadline=None)
@given(
    st.binary(max_size=100) | st.builds(lambda value, cut: encoded(value)[:cut], objects, st.integers(0, 100))
)
def test_any_bytes_at_all_give_an_object(raw: bytes):
    assert Arguments(MASK, LIMIT).json(raw)
    json.loads(Arguments(MASK, LIMIT).json(raw))
