from __future__ import annotations

from mcp_workbench.cli.not_found import NotFound, nearest


def test_the_nearest_name_is_offered_whatever_its_case() -> None:
    assert nearest("Read_Fiel", ["write_file", "read_file"]) == "read_file"
    assert nearest("xyz", ["read_file"]) is None
    assert str(NotFound("tool", "raed", ["read"], " in server 's'")) == (
        "Tool 'raed' not found in server 's'. Did you mean 'read'?"
    )


def test_where_nothing_is_near_what_there_is_is_listed_unless_that_is_long() -> None:
    assert str(NotFound("toolbox", "x", ["dev", "web"])) == "Toolbox 'x' not found. There is: dev, web."
    assert str(NotFound("toolbox", "x", [])) == "Toolbox 'x' not found. There is none."
    many = NotFound("tool", "x", [f"tool{number}" for number in range(100)])
    assert str(many).endswith("There are 100; the nearest name is none of them.")
