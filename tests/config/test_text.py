import pytest

from mcp_workbench.config.text import Unparsable, flaws, parse


@pytest.mark.parametrize(
    ("content", "place", "hint"),
    [
        (b"", "config", "toolboxes"),
        (b"\xef\xbb\xbf  \n", "config", "toolboxes"),
        (b'{\n  // note\n  "a": 1}', "line 2, column 3", "comments"),
        (b"{'a': 1}", "line 1, column 2", "double quotes"),
        (b'{"a": 1 "b": 2}', "line 1, column 9", "comma"),
        (b'{"a": [1, 2', "line 1, column 12", "close"),
        ('{"ä": nope}'.encode(), "line 1, column 7", "Correct"),
        (b'{"a": "\xff"}', "line 1, column 8", "UTF-8"),
        (b'{"NaN": "NaN\\"",\n "b": NaN}', "line 2, column 7", "number"),
        (b'{"a": ' + b"9" * 5000 + b"}", "line 1, column 7", "number"),
        (b"[" * 100_000, "config", "levels"),
    ],
)
def test_text_that_is_no_json_is_told_with_its_place_and_a_fix(content: bytes, place: str, hint: str) -> None:
    with pytest.raises(Unparsable) as caught:
        parse(content)
    assert caught.value.place == place
    assert hint in caught.value.fix


def test_a_last_comma_is_told_as_such() -> None:
    with pytest.raises(Unparsable, match=r"property name|trailing comma") as caught:
        parse(b'{\n  "a": 1,\n}')
    assert caught.value.place in ("line 3, column 1", "line 2, column 9")  # as Python 3.11 and 3.13 see it
    assert "comma" in caught.value.fix


def test_a_byte_order_mark_is_tolerated() -> None:
    assert parse(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_what_json_lets_through_is_found() -> None:
    found = flaws(parse(rb'{"a": 1, "b": {"c": 1, "c": 2, "c": 3}, "a": 2, "d": ["\ud800"], "e": 1e999}'))
    assert {problem.place for problem in found} == {("a",), ("b", "c"), ("d", 0), ("e",)}
    assert len(found) == 4


def test_a_comment_may_be_written_twice_and_say_anything() -> None:
    text = b"""{"_c": 1, "_c": {"a": 1, "a": 2}, "$d": "\\ud800", "_\\ud800": 1e999,
        "toolboxes": {"t": {"_c": 1, "_c": 2}}}"""
    assert flaws(parse(text)) == []


def test_names_that_look_like_comments_are_names() -> None:
    [problem] = flaws(parse(b'{"toolboxes": {"_t": {}, "_t": {}}}'))
    assert problem.place == ("toolboxes", "_t")


def test_a_whole_number_may_have_a_fraction_of_nothing() -> None:
    data = parse(b"[5.0, 1e3, -2.0, 5.5, 1e300]")
    assert data == [5, 1000, -2, 5.5, 1e300]
    assert [type(each) for each in data] == [int, int, int, float, float]
