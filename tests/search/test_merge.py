from mcp_workbench.names import ToolRef
from mcp_workbench.search import merge


def found(names: str) -> list[tuple[ToolRef, float]]:
    return [(ToolRef("t", "s", name), 1.0) for name in names]


def shown(*results: str, limit: int) -> list[str]:
    return ["".join(ref.name for ref in each) for each in merge([found(each) for each in results], limit)]


def test_results_take_turns() -> None:
    assert shown("abcd", "wxyz", limit=5) == ["abc", "wx"]


def test_one_that_runs_out_leaves_its_turns_to_the_others() -> None:
    assert shown("a", "wxyz", "", limit=4) == ["a", "wxy", ""]


def test_a_tool_that_several_found_is_shown_once() -> None:
    assert shown("abc", "bad", limit=10) == ["ac", "bd"]


def test_a_single_result_is_cut_at_the_limit() -> None:
    assert shown("abcd", limit=2) == ["ab"]
    assert shown(limit=2) == []
