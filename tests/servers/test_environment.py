"""What a child may see of our environment, and what an `.env` file says."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mcp_workbench.servers.environment import child_environment, read_env_file

SAFE = """
PATH HOME USER LOGNAME SHELL TERM LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_RUNTIME_DIR XDG_CONFIG_HOME DISPLAY
WAYLAND_DISPLAY SSH_AUTH_SOCK DOCKER_HOST HTTP_PROXY https_proxy NO_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS
REQUESTS_CA_BUNDLE npm_config_prefix NPM_CONFIG_CACHE UV_CACHE_DIR PIP_INDEX_URL NVM_DIR PYENV_ROOT
""".split()
KEPT_BACK = """
AWS_SECRET_ACCESS_KEY GITHUB_TOKEN OPENAI_API_KEY DATABASE_URL PASSWORD npm_config__authToken NPM_CONFIG__AUTH
UV_PUBLISH_TOKEN UV_PUBLISH_PASSWORD XDG_SECRET WORKBENCH_CONFIG PYTHONPATH LD_PRELOAD NODE_OPTIONS MINE
""".split()


@pytest.mark.parametrize("name", SAFE)
def test_a_child_finds_its_way_around(name: str) -> None:
    assert child_environment({name: "x"}, False, {}) == {name: "x"}


@pytest.mark.parametrize("name", KEPT_BACK)
def test_nothing_that_looks_like_a_secret_or_is_none_of_its_business_reaches_a_child(name: str) -> None:
    assert child_environment({name: "x"}, False, {}) == {}


@pytest.mark.parametrize(
    ("inherit", "passed"),
    [
        ((), set[str]()),
        (("A_TOKEN",), {"A_TOKEN"}),
        (("A_*",), {"A_TOKEN", "A_B"}),
        (("a_*",), set[str]()),
        (("*",), {"A_TOKEN", "A_B", "C"}),
        (True, {"A_TOKEN", "A_B", "C"}),
    ],
)
def test_an_entry_may_ask_for_more(inherit: bool | Sequence[str], passed: set[str]) -> None:
    assert set(child_environment({"A_TOKEN": "1", "A_B": "2", "C": "3"}, inherit, {})) == passed


def test_what_an_entry_declares_wins() -> None:
    assert child_environment({"PATH": "ours", "X": "ours"}, True, {"PATH": "its"}) == {
        "PATH": "its",
        "X": "ours",
    }


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("A=1\nB = two words \n", {"A": "1", "B": "two words"}),
        ("# comment\n\n  export A=1\r\n", {"A": "1"}),
        ("A=", {"A": ""}),
        ("A=''\nB=\"\"", {"A": "", "B": ""}),
        ("A='it # is $HOME \\n'", {"A": "it # is $HOME \\n"}),
        ('A="one\\ntwo \\"q\\" \\\\ # not a comment"', {"A": 'one\ntwo "q" \\ # not a comment'}),
        ("A=1 # comment", {"A": "1"}),
        ("A=a#b", {"A": "a#b"}),
        ("A=x=y=z", {"A": "x=y=z"}),
        ("A=it's", {"A": "it's"}),
        ("A=1\nA=2", {"A": "2"}),
        ("A=é\u2028b", {"A": "é\u2028b"}),
    ],
)
def test_an_env_file_is_read_as_people_write_it(text: str, read: dict[str, str]) -> None:
    assert dict(read_env_file(text)) == read


@pytest.mark.parametrize("line", ["just words", "=x", "1A=x", "A B=c", "A='open"])
def test_a_line_that_is_no_assignment_is_named_by_its_number(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        dict(read_env_file(f"A=1\n{line}\n"))
