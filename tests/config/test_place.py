import pytest

from mcp_workbench.config.place import Place, written


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ((), "config"),
        (("toolboxes", "dev", "mcpServers", "docs", "url"), "config.toolboxes.dev.mcpServers.docs.url"),
        (("a", 0, "b"), "config.a[0].b"),
        (("a.b", "c d", 'e"'), r'config["a.b"]["c d"]["e\""]'),
        (("ünï",), 'config["ünï"]'),
        (("\x1b[31m\n",), r'config["\u001b[31m\n"]'),
        (("\x7f",), r'config["\u007f"]'),
    ],
)
def test_a_place_reads_like_the_file(place: Place, text: str) -> None:
    assert written(place) == text


def test_a_place_is_never_long() -> None:
    assert len(written(("x" * 10_000,))) < 100
