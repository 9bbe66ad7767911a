"""The extra needs numpy, tokenizers and weights; where they are not installed there is nothing to test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcp_workbench.names import ToolRef
from mcp_workbench.search import Catalogue

np = pytest.importorskip("numpy")
pytest.importorskip("tokenizers")

from mcp_workbench.search.extra import weights  # noqa: E402
from mcp_workbench.search.minilm import MiniLM  # noqa: E402
from mcp_workbench.search.semantic import SemanticIndex  # noqa: E402

pytestmark = pytest.mark.skipif(weights() is None, reason="the weights are not installed")


@pytest.fixture(scope="module")
def model() -> MiniLM:
    where = weights()
    assert where is not None
    return MiniLM(where)


def tool(name: str, description: str) -> tuple[ToolRef, Mapping[str, Any]]:
    return ToolRef("t", "s", name), {"name": name, "description": description}


TOOLS = [
    tool("create_ticket", "Open a new ticket for the support team."),
    tool("get_forecast", "Weather for the coming days at a place."),
    tool("convert", "Exchange an amount of money into another currency."),
]


def names(index: SemanticIndex, query: str) -> list[str]:
    return [ref.name for ref, _ in index.find(query, 3)]


def test_vectors_are_those_of_the_published_model(model: MiniLM) -> None:
    """Similarities from the model's own page."""
    texts = [
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    ]
    vectors = model.embed(texts)
    assert np.allclose(vectors @ vectors[0], [1.0, 0.695, 0.943, 0.257], atol=0.001)


def test_a_text_has_the_same_vector_alone_and_among_longer_ones(model: MiniLM) -> None:
    alone = model.embed(["read a file"])[0]
    among = model.embed(["read a file", "a much longer text " * 100, ""])[0]
    assert np.allclose(alone, among, atol=1e-4)


def test_a_tool_is_found_by_what_it_means(model: MiniLM) -> None:
    index = SemanticIndex(model)
    index.put(("t", "s"), TOOLS)
    index.read_all()
    assert names(index, "do I need an umbrella tomorrow?")[0] == "get_forecast"
    assert names(index, "how many euros are 20 dollars")[0] == "convert"


def test_a_question_of_several_steps_finds_a_tool_for_each(model: MiniLM) -> None:
    index = SemanticIndex(model)
    index.put(("t", "s"), TOOLS)
    index.read_all()
    query = (
        "Find out if I should take an umbrella tomorrow. How many euros will twenty dollars give me there? "
        "Then complain to the help desk because my printer is broken."
    )
    assert set(names(index, query)) == {"create_ticket", "get_forecast", "convert"}


def test_a_tool_is_found_by_what_it_takes(model: MiniLM) -> None:
    index = SemanticIndex(model)
    schema = {"type": "object", "properties": {"celsius": {}, "wind_speed": {}}}
    ref, definition = tool("run", "Runs it.")
    index.put(("t", "s"), [(ref, {**definition, "inputSchema": schema}), tool("walk", "Walks it.")])
    index.read_all()
    assert names(index, "how warm does it feel outside?")[:1] == ["run"]


def test_what_is_far_from_the_question_is_not_found(model: MiniLM) -> None:
    index = SemanticIndex(model)
    index.put(("t", "s"), TOOLS)
    index.read_all()
    assert names(index, "Portuguese recipes") == []


def test_what_was_replaced_while_it_was_read_is_read_again(model: MiniLM) -> None:
    index = SemanticIndex(model)
    index.put(("t", "s"), TOOLS)
    taken = index.unread()
    vectors = index.read(taken)
    index.put(("t", "s"), [tool("send_fax", "Send a fax.")])
    index.learn(taken, vectors)
    (waiting,) = index.unread()
    assert waiting.text.startswith("send fax")


def test_before_they_are_read_tools_are_found_by_words(model: MiniLM) -> None:
    index = SemanticIndex(model)
    index.put(("t", "s"), TOOLS)
    assert names(index, "weather") == ["get_forecast"]
    assert names(index, "xyzzy") == []


def test_what_is_replaced_or_not_allowed_is_not_found(model: MiniLM) -> None:
    index = SemanticIndex(model)
    index.put(("t", "s"), TOOLS)
    index.read_all()
    index.put(("t", "s"), TOOLS[:1])
    index.read_all()
    assert names(index, "weather forecast for the coming days") in ([], ["create_ticket"])
    assert index.find("ticket", 3, lambda _: False) == []
    index.remove(("t", "s"))
    assert names(index, "ticket") == []


def test_vectors_are_kept_in_the_catalogue(model: MiniLM, tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    first = SemanticIndex(model, Catalogue(environ))
    first.put(("t", "s"), TOOLS)
    first.read_all()

    class Unneeded(MiniLM):
        def __init__(self) -> None:
            pass

    second = SemanticIndex(Unneeded(), Catalogue(environ))
    second.put(("t", "s"), TOOLS)
    second.read_all()  # the model has no weights: it would fail if it were asked
