import pytest

from mcp_workbench.config.secrets import secrets_in


@pytest.mark.parametrize(
    ("name", "value", "secrets"),
    [
        ("API_KEY", "abcd", {"abcd"}),
        ("API_KEY", "abc", set()),
        ("PLAIN", "abcdefg", set()),
        ("PLAIN", "abcdefgh", {"abcdefgh"}),
        ("LOG_LEVEL", "info", set()),
        ("AUTH_ENABLED", "true", set()),
        ("TOKEN_PORT", "8080", set()),
        ("PROJECT_ROOT", "/home/someone/project", set()),
        ("BASE_URL", "https://example.com/some/path", set()),
        ("GIT_AUTHOR_NAME", "Jane", set()),
        ("PWD", "/home/someone/project", set()),
        ("USER", "someone-long", set()),
        ("Accept", "application/json", set()),
        ("Authorization", "Bearer abcdef", {"Bearer abcdef", "abcdef"}),
        ("DB", "postgres://me:hunter22@db/x", {"postgres://me:hunter22@db/x", "hunter22"}),
        ("url", "https://x.org/mcp?api_key=canary", {"https://x.org/mcp?api_key=canary", "canary"}),
        ("url", "https://x.org/?key=a%2Fbcd", {"https://x.org/?key=a%2Fbcd", "a%2Fbcd", "a/bcd"}),
        ("url", "https://me:a%40bcd@x.org", {"https://me:a%40bcd@x.org", "a%40bcd", "a@bcd"}),
        ("API_KEY", " abcd\n", {"abcd"}),
    ],
)
def test_what_is_secret_follows_from_name_and_value(name: str, value: str, secrets: set[str]) -> None:
    assert secrets_in(name, value) == secrets
