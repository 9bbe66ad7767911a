import pytest

from mcp_workbench.search.clauses import clauses, steps


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("Read the file", ["Read the file"]),
        ("Read it. Send it! Done?", ["Read it.", "Send it!", "Done?"]),
        ("Read it, and send it then stop", ["Read it", "send it", "stop"]),
        ("Version 2.5 of a.txt", ["Version 2.5 of a.txt"]),
        ("读取文件。发送邮件。", ["读取文件。", "发送邮件。"]),
        ("one\n\ntwo", ["one", "two"]),
    ],
)
def test_a_request_is_parted_where_one_thing_ends(text: str, parts: list[str]) -> None:
    assert clauses(text) == parts


def test_a_long_request_has_a_dozen_parts() -> None:
    assert len(clauses("Go on. " * 1000)) == 12


def test_three_clauses_that_say_something_are_steps() -> None:
    several = "Read the large file. Send the invoice by mail. Then deploy the new server."
    assert steps(several) == [
        "Read the large file.",
        "Send the invoice by mail.",
        "Then deploy the new server.",
    ]
    assert steps("Read the large file. Send the invoice by mail. Thanks!") == []
