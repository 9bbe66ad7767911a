"""What is possible in a configuration and what is not, and where that is said to stand."""

import pytest

from mcp_workbench.config import RemoteConfig

from .test_loading import AT_SERVER, Load, problems_of, with_server


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:65535/mcp",
        "https://me:it:s@example.com:8443",
        "HTTP://[::1]:80/mcp?a=b:99999",
        "http://localhost:/mcp",
        "http://tools.example:00080/a:b",
        "http://bücher.example",
    ],
)
def test_an_address_may_be_any_that_can_be_reached(loaded: Load, address: str) -> None:
    server = loaded(with_server({"url": address})).toolboxes["dev"].servers["s"]
    assert isinstance(server, RemoteConfig)
    assert server.url == address


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:99999/mcp",
        "http://[::1]:65536",
        "http://example.com:0/",
        "http://a:b/",
        "http://:80/",
        "http://[::1/",
        "http://a:80:80/",
        "https://",
    ],
)
def test_an_address_that_cannot_be_reached_is_a_problem(loaded: Load, address: str) -> None:
    [(place, (_, fix))] = problems_of(loaded, with_server({"url": address})).items()
    assert place == f"{AT_SERVER}.url"
    assert "its port 1 to 65535" in fix


def test_a_port_may_be_a_variable_that_is_missing(loaded: Load) -> None:
    config = loaded(with_server({"url": "http://localhost:${PORT}/mcp"}))
    assert "PORT is not set" in (config.toolboxes["dev"].servers["s"].problem or "")


@pytest.mark.parametrize("listen", ["127.0.0.1:99999", "65536", "localhost:-1", "localhost:"])
def test_a_port_to_listen_on_is_one_that_there_is(loaded: Load, listen: str) -> None:
    problems = problems_of(loaded, {"toolboxes": {}, "http": {"listen": listen}})
    assert list(problems) == ["config.http.listen"]
    assert "at most 65535" in problems["config.http.listen"][1]


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "65535", "[::1]:8484"])
def test_any_port_can_be_listened_on(loaded: Load, listen: str) -> None:
    assert loaded({"toolboxes": {}, "http": {"listen": listen}}).http.listen == listen


def test_numbers_are_judged_as_json_means_them(loaded: Load) -> None:
    assert loaded('{"toolboxes": {}, "log": {"keep": 5.0}}').log.keep == 5
    for keep in ("5.5", "-1", "1e10", "1e300"):
        [(place, (_, fix))] = problems_of(loaded, f'{{"toolboxes": {{}}, "log": {{"keep": {keep}}}}}').items()
        assert place == "config.log.keep"
        assert fix in ("Write a whole number", "It must be 0 to 1000000000")


@pytest.mark.parametrize("name", ["", "0", "007"])
def test_a_problem_is_told_with_its_place_whatever_the_names(loaded: Load, name: str) -> None:
    step = f".{name}" if name else '[""]'
    faulty = {"description": 1, "mcpServers": {name: {"command": 2}, "x": {"args": {}}}}
    problems = problems_of(loaded, {"toolboxes": {name: faulty}})
    at = f"config.toolboxes{step}"
    named = [at, f"{at}.mcpServers{step}"] if not name else []
    assert sorted(problems) == sorted(
        [
            f"{at}.description",
            f"{at}.mcpServers{step}.command",
            f"{at}.mcpServers.x",
            f"{at}.mcpServers.x.args",
            *named,
        ]
    )


def test_a_missing_variable_is_no_problem_in_a_toolbox_of_digits_either(loaded: Load) -> None:
    faulty = {"description": "d", "mcpServers": {"1": {"command": "x", "limits": {"timeout": "${MISSING}"}}}}
    config = loaded({"toolboxes": {"0": faulty}})
    assert "MISSING is not set" in (config.toolboxes["0"].servers["1"].problem or "")


def test_half_a_character_is_a_problem_wherever_it_stands(loaded: Load) -> None:
    for faulty in ('"search": "\\ud800"', '"log": {"path": "\\ud800"}', '"http": {"listen": "\\ud800"}'):
        problems = problems_of(loaded, f'{{"toolboxes": {{}}, {faulty}}}')
        assert "Half a character (a lone surrogate)" in [wrong for wrong, _ in problems.values()]
    value = "\udcff"  # a variable that is no UTF-8
    assert problems_of(loaded, {"toolboxes": {}, "search": "${V}"}, V=value)
    assert problems_of(loaded, {"toolboxes": {"${V}": {"description": "d", "mcpServers": {}}}}, V=value)
