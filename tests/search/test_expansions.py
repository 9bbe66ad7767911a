from mcp_workbench.search.expansions import neighbours


def test_a_word_has_related_words_the_nearest_first() -> None:
    found = neighbours("photo")
    assert "imag" in dict(found) or "pictur" in dict(found)
    assert [nearness for _, nearness in found] == sorted((n for _, n in found), reverse=True)
    assert all(0 < nearness <= 1 for _, nearness in found)


def test_an_unknown_word_has_none() -> None:
    assert neighbours("xyzzy") == ()


def test_names_of_people_places_and_firms_are_not_in_the_table() -> None:
    for name in ("london", "john", "microsoft", "henan", "kelsay", "keboola", "california"):
        assert neighbours(name) == ()
