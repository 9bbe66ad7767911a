import time

import pytest

from mcp_workbench.config import Filters


@pytest.mark.parametrize(
    ("patterns", "allowed", "refused"),
    [
        (["*"], ["anything", ""], []),
        ([], [], ["anything"]),
        (["read_file"], ["read_file"], ["read_files", "Read_file", "xread_file"]),
        (
            ["read_*", "list_directory"],
            ["read_", "read_file", "list_directory"],
            ["write_file", "list_directories"],
        ),
        (["read_?"], ["read_1"], ["read_", "read_12"]),
        (["*", "!delete_*"], ["read"], ["delete_all"]),
        (["!delete_*", "*"], ["read"], ["delete_all"]),
        (["!delete_*"], ["read"], ["delete_all"]),
        (["a*", "!ab*"], ["ac"], ["abc", "b"]),
        (["a[b]c", "x.y"], ["a[b]c", "x.y"], ["abc", "xzy"]),
        (["two\nlines*"], ["two\nlines and more"], ["two"]),
    ],
)
def test_patterns_include_and_exclude(patterns: list[str], allowed: list[str], refused: list[str]) -> None:
    filters = Filters.parse(patterns)
    assert [name for name in allowed if not filters.allows(name)] == []
    assert [name for name in refused if filters.allows(name)] == []


def test_filters_that_were_not_configured_offer_everything() -> None:
    assert Filters().allows("anything")


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*b", "*a?a*a?a*a?*b", "?*?*?*?*?*?*b", "*" * 50 + "b"])
def test_a_pattern_of_many_stars_takes_no_time_on_a_long_name(pattern: str) -> None:
    filters = Filters.parse([pattern, f"!{pattern}"])
    started = time.perf_counter()
    assert not filters.allows("a" * 10_000)
    assert time.perf_counter() - started < 0.5


def test_filters_of_the_same_patterns_are_equal() -> None:
    assert Filters.parse(["a*", "!b"]) == Filters.parse(["a*", "!b"])
    assert Filters.parse(["a*"]) != Filters.parse(["b*"])
