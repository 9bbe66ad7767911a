from typing import Any

from mcp_workbench.names import ToolRef
from mcp_workbench.search import Index, answer, unseen

READ = ToolRef("dev", "fs", "read")
SEND = ToolRef("dev", "mail", "send")
DEFINITIONS: dict[ToolRef, dict[str, Any]] = {
    READ: {
        "description": "Read a file. And more.",
        "inputSchema": {"properties": {"path": {"type": "string"}}},
    },
    SEND: {"description": "Send a mail."},
}


def test_one_question_is_answered_by_lines_alone() -> None:
    assert answer(["x"], [[READ, SEND]], DEFINITIONS.__getitem__) == (
        "dev/fs/read(path?: string): Read a file.\ndev/mail/send(): Send a mail."
    )


def test_several_questions_are_answered_one_after_the_other() -> None:
    assert answer(["read\na file", "send", "fly"], [[READ], [SEND], []], DEFINITIONS.__getitem__) == (
        "## read a file\ndev/fs/read(path?: string): Read a file.\n\n"
        "## send\ndev/mail/send(): Send a mail.\n\n"
        "## fly\nNothing more found."
    )


def test_full_detail_has_the_whole_description() -> None:
    assert "And more." in answer(["x"], [[READ]], DEFINITIONS.__getitem__, "full")


def test_finding_nothing_says_what_else_to_do() -> None:
    assert answer(["x"], [[]], DEFINITIONS.__getitem__).startswith("No tools found. Try other words")


def test_a_toolbox_that_was_never_opened_is_found_by_its_names_and_description() -> None:
    ref, definition = unseen("office", "Letters and invoices. For all.", ["mail", "fax"])
    index = Index()
    index.put(("office", ""), [(ref, definition)])
    for query in ("invoice", "office", "fax"):
        assert [found for found, _ in index.find(query, 3)] == [ref]
    assert answer(["x"], [[ref]], lambda _: definition) == (
        "office (a toolbox not opened yet; open_toolbox shows its tools; mail, fax): Letters and invoices."
    )
