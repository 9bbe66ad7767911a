"""Names of several servers in one list."""

from __future__ import annotations

from mcp_workbench.endpoint.merged import Merged, Origin


def test_a_name_that_is_unique_is_kept() -> None:
    merged = Merged({"a": ["x", "y"], "b": ["z"]})
    assert list(merged.origins) == ["x", "y", "z"]
    assert merged.origins["z"] == Origin("b", "z")


def test_all_of_a_name_that_clashes_are_told_apart() -> None:
    merged = Merged({"a": ["x", "y"], "b": ["x"]})
    assert merged.origins == {"y": Origin("a", "y"), "a__x": Origin("a", "x"), "b__x": Origin("b", "x")}
    assert merged.names[Origin("b", "x")] == "b__x"


def test_somebodys_own_name_may_look_like_one_of_ours() -> None:
    merged = Merged({"a": ["x", "a__x"], "b": ["x"]})
    assert merged.origins["a__x"] == Origin("a", "a__x")
    assert merged.origins["a__x_"] == Origin("a", "x")
