import pytest

from mcp_workbench.search.words import terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Read the files, please!", ["read", "file"]),
        ("read_file", ["read", "file", "readfile"]),
        ("readFile", ["read", "file", "readfile"]),
        ("getHTTPResponse", ["get", "http", "respons", "gethttpresponse"]),
        ("URLs", ["url"]),
        ("user's", ["user"]),
        ("uber.ride", ["uber", "ride"]),
        ("Améthyste", ["amethyst"]),
        ("読み取り", ["読み", "み取", "取り"]),
        ("讀取file檔案", ["file", "讀取", "檔案"]),
        ("한국어 날씨", ["한국", "국어", "날씨"]),
        ("雪", ["雪"]),
        ("погода завтра", ["погода", "завтра"]),
        ("", []),
        ("the of and", []),
    ],
)
def test_a_text_is_read_as_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


def test_order_and_repetition_are_kept() -> None:
    assert terms("files and file and path") == ["file", "file", "path"]
