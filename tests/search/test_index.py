import random
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hypothesis import given, settings, strategies as st

from mcp_workbench.names import ToolRef
from mcp_workbench.search import Index

WORDS = (
    "file path folder weather city forecast image photo resize mail send inbox calendar event invoice "
    "customer order payment search query database table row column branch commit issue merge deploy server "
    "log metric"
).split()


def tool(
    name: str, description: str = "", server: str = "s", parameters: Mapping[str, str] = MappingProxyType({})
) -> tuple[ToolRef, Mapping[str, Any]]:
    properties = {key: {"type": "string", "description": said} for key, said in parameters.items()}
    schema = {"type": "object", "properties": properties}
    return ToolRef("t", server, name), {"name": name, "description": description, "inputSchema": schema}


def names(index: Index, query: str, limit: int = 10) -> list[str]:
    return [ref.name for ref, _ in index.find(query, limit)]


def filled(*tools: tuple[ToolRef, Mapping[str, Any]]) -> Index:
    index = Index()
    index.put(("t", "s"), tools)
    return index


def some(count: int, seed: int, server: str = "s") -> list[tuple[ToolRef, Mapping[str, Any]]]:
    chance = random.Random(seed)
    return [
        tool(
            "_".join(chance.sample(WORDS, 2)) + f"_{server}{n}",
            " ".join(chance.choices(WORDS, k=8)),
            server,
            {chance.choice(WORDS): " ".join(chance.choices(WORDS, k=4))},
        )
        for n in range(count)
    ]


def test_the_tool_that_is_asked_for_comes_first() -> None:
    index = filled(
        tool("read_file", "Read a file."), tool("send_mail", "Send a message."), tool("list_files", "List.")
    )
    assert names(index, "how do I read this file?")[0] == "read_file"


def test_a_name_counts_more_than_a_description() -> None:
    index = filled(tool("other", "deploys the server"), tool("deploy_server", "Nothing."))
    assert names(index, "deploy server")[0] == "deploy_server"


def test_a_tool_is_found_by_its_parameters_and_choices() -> None:
    ref, definition = tool("a", "x", parameters={"currency": "Three letters of ISO 4217"})
    definition["inputSchema"]["properties"]["unit"] = {"items": {"enum": ["celsius"]}}
    index = filled(tool("b", "y"), (ref, definition))
    assert names(index, "currency") == names(index, "celsius") == names(index, "ISO letters") == ["a"]


def test_a_tool_is_found_by_its_server() -> None:
    assert names(filled(tool("run", server="postgres"), tool("run2")), "postgres") == ["run"]


def test_a_related_word_finds_but_the_word_itself_finds_better() -> None:
    index = filled(tool("resize_photo", "Resize."), tool("resize_image", "Resize."), tool("c", "Other."))
    assert names(index, "photo") == ["resize_photo", "resize_image"]
    assert names(index, "image") == ["resize_image", "resize_photo"]


def test_other_scripts_are_found() -> None:
    index = filled(tool("a", "查询明天的天气预报"), tool("b", "发送电子邮件"))
    assert names(index, "天气") == ["a"]


def test_nothing_is_found_for_nothing() -> None:
    index = filled(tool("a", "b"))
    assert names(index, "") == names(index, "the of") == names(index, "xyzzy") == names(index, "a", 0) == []
    assert Index().find("file", 5) == []


def test_what_is_not_allowed_is_never_found_and_takes_no_place() -> None:
    index = Index()
    for server in "abc":
        index.put(("t", server), some(60, 1, server))
    found = index.find("file weather", 7, lambda ref: ref.server == "b")
    assert len(found) == 7
    assert {ref.server for ref, _ in found} == {"b"}


def test_putting_a_server_again_replaces_its_tools_only() -> None:
    index = Index()
    index.put(("t", "a"), [tool("old_file", server="a")])
    index.put(("t", "b"), [tool("other_file", server="b")])
    index.put(("t", "a"), [tool("new_file", server="a")])
    assert set(names(index, "file")) == {"new_file", "other_file"}
    index.remove(("t", "a"))
    assert names(index, "file") == ["other_file"]
    assert len(index) == 1
    index.remove(("t", "never there"))


def test_an_index_that_was_changed_ranks_as_one_built_at_once() -> None:
    changed, fresh = Index(), Index()
    for server in "abcd":
        changed.put(("t", server), some(40, ord(server), server))
    changed.put(("t", "a"), some(30, 99, "a"))
    changed.remove(("t", "b"))
    for server, count, seed in (("a", 30, 99), ("c", 40, ord("c")), ("d", 40, ord("d"))):
        fresh.put(("t", server), some(count, seed, server))
    for query in ("send mail", "weather forecast in the city", "merge branch commit"):
        one, two = changed.find(query, 20), fresh.find(query, 20)
        assert sorted(round(score, 9) for _, score in one) == sorted(round(score, 9) for _, score in two)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), st.integers(1, 12))
def test_better_scores_come_first_and_no_tool_twice(seed: int, query: list[str], limit: int) -> None:
    found = filled(*some(150, seed)).find(" ".join(query), limit)
    assert len({ref for ref, _ in found}) == len(found) <= limit
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert all(score > 0 for _, score in found)


def test_any_definition_can_be_put() -> None:
    index = Index()
    wrong: list[Any] = [{}, {"inputSchema": 3}, {"description": ["x"], "inputSchema": {"properties": [1]}}]
    wrong.append({"inputSchema": {"properties": {"a": None, "b": {"enum": 3, "items": []}}, "anyOf": {}}})
    index.put(("t", "s"), [(ToolRef("t", "s", f"broken{n}"), each) for n, each in enumerate(wrong)])
    assert len(names(index, "broken0 broken1 broken2 broken3")) == 4


def test_a_question_as_long_as_a_book_is_answered_soon() -> None:
    index = filled(*some(2000, 5))
    started = time.perf_counter()
    index.find(" ".join(WORDS) * 20_000, 10)
    assert time.perf_counter() - started < 5


def test_a_question_of_several_steps_finds_a_tool_for_each() -> None:
    lone = [tool("resize_photo", "Resize a photo to a width."), tool("create_invoice", "Create an invoice.")]
    mail = [tool(f"send_mail_{n}", "Send a mail with subject and body to a customer.") for n in range(12)]
    query = (
        "Resize the photo to a small width. Create an invoice for this order. "
        "Send a mail with the subject hello and a long body to the customer by mail."
    )
    assert {"resize_photo", "create_invoice"} <= set(names(filled(*mail, *lone), query, 5))
