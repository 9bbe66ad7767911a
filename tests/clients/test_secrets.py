from __future__ import annotations

import pytest

from mcp_workbench.clients.secrets import Secrets, looks_secret


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GITHUB_TOKEN", "ghp_1234567890abcdefghij"),
        ("password", "hunter22"),
        ("anything", "sk-proj-1234567890abcdef"),
        ("anything", "0123456789abcdef0123456789abcdef"),
        ("DATABASE_URL", "postgres://ann:geheim@host/db"),
        ("url", "https://host/mcp?api_key=geheim1"),
        ("Authorization", "Bearer geheim1"),
    ],
)
def test_a_secret_is_seen_by_its_name_or_its_form(name: str, value: str) -> None:
    assert looks_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LOG_LEVEL", "development"),
        ("GITHUB_TOKEN", "${GITHUB_TOKEN}"),
        ("GITHUB_TOKEN", "$GITHUB_TOKEN"),
        ("bearer_token_env_var", "GITHUB_TOKEN"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ann/key.json"),
        ("package", "@modelcontextprotocol/server-filesystem@2025.1.1"),
        ("url", "https://host/mcp?version=2"),
        ("folder", "/home/ann/projects/0123456789abcdef0123456789"),
    ],
)
def test_what_is_no_secret_is_left_alone(name: str, value: str) -> None:
    assert not looks_secret(name, value)


def test_secrets_become_references_and_only_their_own_part_of_a_value() -> None:
    secrets = Secrets({})
    entry = {
        "command": "npx",
        "args": [
            "-y",
            "mcp-remote",
            "--header",
            "Authorization: Bearer geheim1",
            "--api-key",
            "geheim2",
            "-e",
            "DB_PASS=geheim3",
        ],
        "env": {"SLACK_TOKEN": "xoxb-geheim4", "MODE": "fast"},
        "headers": {"Authorization": "Bearer geheim5", "X-Api-Key": "geheim6"},
        "url": "https://ann:geheim7@host/mcp?token=geheim8&page=1",
    }
    replaced = secrets.replaced("my server", entry)
    assert replaced == {
        "command": "npx",
        "args": [
            *("-y", "mcp-remote", "--header", "Authorization: Bearer ${MY_SERVER_TOKEN_3}"),
            *("--api-key", "${MY_SERVER_API_KEY}", "-e", "DB_PASS=${DB_PASS}"),
        ],
        "env": {"SLACK_TOKEN": "${SLACK_TOKEN}", "MODE": "fast"},
        "headers": {"Authorization": "Bearer ${MY_SERVER_TOKEN}", "X-Api-Key": "${MY_SERVER_X_API_KEY}"},
        "url": "https://ann:${MY_SERVER_PASSWORD}@host/mcp?token=${MY_SERVER_TOKEN_2}&page=1",
    }
    values = {each.value for each in secrets.variables.values()}
    assert values == {f"geheim{n}" for n in (1, 2, 3, 5, 6, 7, 8)} | {"xoxb-geheim4"}


def test_equal_secrets_share_a_variable_and_different_ones_do_not() -> None:
    secrets = Secrets({})
    first = secrets.replaced("one", {"env": {"API_KEY": "geheim1"}})
    same = secrets.replaced("two", {"env": {"API_KEY": "geheim1"}})
    other = secrets.replaced("three", {"env": {"API_KEY": "geheim2"}})
    assert first == same == {"env": {"API_KEY": "${API_KEY}"}}
    assert other == {"env": {"API_KEY": "${THREE_API_KEY}"}}


def test_a_variable_that_the_environment_uses_for_something_else_is_not_taken() -> None:
    secrets = Secrets({"API_KEY": "another", "TOKEN": "geheim2"})
    assert secrets.replaced("one", {"env": {"API_KEY": "geheim1"}}) == {"env": {"API_KEY": "${ONE_API_KEY}"}}
    assert secrets.replaced("one", {"env": {"TOKEN": "geheim2"}}) == {"env": {"TOKEN": "${TOKEN}"}}
