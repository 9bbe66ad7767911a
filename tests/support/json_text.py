"""Any JSON, as text: numbers of any size, odd strings, repeated keys, any spacing. For hypothesis.

`exactly` reads it so that two texts are equal only where key order, repeated keys and numbers are.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Text = st.SearchStrategy[str]

_space = st.sampled_from(["", "", "", " ", "\t", " \r "])


def _string(value: str, ascii_only: bool) -> str:
    has_surrogate = any("\ud800" <= character <= "\udfff" for character in value)
    return json.dumps(value, ensure_ascii=ascii_only or has_surrogate)


_odd = '\u2028\u2029\x00\x7f\ufeff\ud800\udfff\U0001f600"\\/'
characters = st.characters() | st.sampled_from(_odd)
strings = st.builds(_string, st.text(characters, max_size=8), st.booleans()) | st.sampled_from(
    ['"\\ud800"', '"a\\udfff"', '""', '"\u2028"']
)
numbers = (
    st.from_regex(r"\A-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?\Z")
    | st.integers(-(10**60), 10**60).map(str)
    | st.sampled_from(["-0", "-0.0", "1e400", "1E-400", "9007199254740993", "0.1", "1.0", "100", "1" * 1000])
)
scalars: Text = strings | numbers | st.sampled_from(["null", "true", "false", "{}", "[]"])


def arrays(of: Text) -> Text:
    return st.builds(lambda items, s: f"[{s}{f'{s},'.join(items)}{s}]", st.lists(of, max_size=4), _space)


def objects(of: Text, keys: Text = strings, *, unique: bool = False) -> Text:
    """Objects with values `of`; `keys` are JSON strings."""
    same = (lambda pair: json.loads(pair[0])) if unique else None
    pairs = st.lists(st.tuples(keys, of), max_size=5, unique_by=same)
    return st.builds(
        lambda pairs, s: f"{{{s}{f'{s},'.join(f'{k}{s}:{s}{v}' for k, v in pairs)}{s}}}", pairs, _space
    )


values: Text = st.recursive(scalars, lambda inner: arrays(inner) | objects(inner), max_leaves=12)


def keys_such_as(*names: str) -> Text:
    """These names, mostly, and any others."""
    likely = st.sampled_from([json.dumps(name) for name in names])
    return likely | likely | strings


class Pairs(tuple[Any, ...]):
    """The members of an object, in order, repeated ones too."""


def exactly(text: str | bytes) -> Any:
    return json.loads(
        text,
        object_pairs_hook=Pairs,
        parse_int=lambda digits: ("number", digits),
        parse_float=lambda digits: ("number", digits),
    )
