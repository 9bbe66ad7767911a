import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mcp_workbench.config import ChildConfig, Config, FolderConfig, RemoteConfig, load
from mcp_workbench.errors import ConfigError, ConfigInvalid, ConfigUnreadable

Load = Callable[..., Config]


def with_server(entry: object, **root: object) -> dict[str, Any]:
    return {"toolboxes": {"dev": {"description": "d", "mcpServers": {"s": entry}}}, **root}


def problems_of(loaded: Load, data: object, **environ: str) -> dict[str, tuple[str, str]]:
    with pytest.raises(ConfigInvalid) as caught:
        loaded(data, **environ)
    return {place: (wrong, fix) for place, wrong, fix in caught.value.problems}


AT_SERVER = "config.toolboxes.dev.mcpServers.s"


def test_the_example_of_the_contract_loads(loaded: Load, tmp_path: Path) -> None:
    config = loaded(
        {
            "toolboxes": {
                "dev": {
                    "description": "Development environment tools",
                    "mcpServers": {
                        "filesystem": {
                            "command": "npx",
                            "args": ["-y", "@modelcontextprotocol/server-filesystem", "${PROJECT_ROOT}/data"],
                            "env": {"LOG_LEVEL": "${LOG_LEVEL:-info}"},
                            "toolFilters": ["read_*", "list_directory"],
                        },
                        "docs": {
                            "url": "https://example.com/mcp",
                            "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"},
                        },
                        "mine": {"path": "./tools"},
                    },
                }
            }
        },
        PROJECT_ROOT="/project",
        DOCS_TOKEN="canary-token",
    )
    filesystem, docs, mine = config.toolboxes["dev"].servers.values()
    assert isinstance(filesystem, ChildConfig)
    assert filesystem.args[2] == "/project/data"
    assert filesystem.env == {"LOG_LEVEL": "info"}
    assert filesystem.filters.allows("read_file")
    assert not filesystem.filters.allows("write_file")
    assert filesystem.limits.connect_timeout == 120
    assert isinstance(docs, RemoteConfig)
    assert docs.headers == {"Authorization": "Bearer canary-token"}
    assert (docs.transport, docs.limits.connect_timeout) == ("http", 30)
    assert isinstance(mine, FolderConfig)
    assert mine.path == str(tmp_path / "tools")
    assert config.secrets == {"canary-token", "Bearer canary-token"}
    assert config.log.path == str(tmp_path / "log/ToolBox.log")


def test_defaults_are_those_of_the_contract(loaded: Load) -> None:
    config = loaded(with_server({"command": "x"}))
    server = config.toolboxes["dev"].servers["s"]
    limits = server.limits
    assert (limits.connect_timeout, limits.timeout, limits.idle_timeout, limits.idle_shutdown) == (
        30,
        600,
        None,
        None,
    )
    assert (limits.concurrency, limits.queue, limits.connections, limits.max_line) == (32, 256, 8, 64 * 2**20)
    toolbox = config.toolboxes["dev"]
    assert (toolbox.detail, toolbox.listing_limit, toolbox.open_on_use) == ("json", 80_000, False)
    log = config.log
    assert (log.max_size, log.keep, log.value_limit, log.redact, log.record) == (
        100_000_000,
        5,
        16_384,
        (),
        False,
    )
    assert config.search
    assert config.warnings == ()


def test_the_nearest_limit_counts(loaded: Load) -> None:
    data = with_server({"command": "npx", "limits": {"timeout": "1m", "idleTimeout": None}})
    data["limits"] = {"timeout": 1, "queue": 1, "idleTimeout": "5s", "connectTimeout": 7}
    data["toolboxes"]["dev"]["limits"] = {"timeout": 2, "queue": 2, "maxLine": "1MiB"}
    limits = loaded(data).toolboxes["dev"].servers["s"].limits
    assert (limits.timeout, limits.queue, limits.idle_timeout) == (60, 2, None)
    assert (limits.connect_timeout, limits.max_line) == (7, 2**20)


def test_the_nearest_switch_counts(loaded: Load) -> None:
    data = with_server({"command": "x", "readOnly": False}, openOnUse=True)
    data["toolboxes"]["dev"] |= {"readOnly": True, "pinned": True}
    data["toolboxes"]["other"] = {"description": "d", "mcpServers": {}, "openOnUse": False}
    config = loaded(data)
    server = config.toolboxes["dev"].servers["s"]
    assert (server.read_only, server.pinned) == (False, True)
    assert [toolbox.open_on_use for toolbox in config.toolboxes.values()] == [True, False]


def test_paths_count_from_the_files_folder_and_the_command_stays_as_written(
    loaded: Load, tmp_path: Path
) -> None:
    entry = {"command": "./run", "args": ["./x"], "cwd": "a/../b", "envFile": "~/.env"}
    child = loaded(with_server(entry), HOME="/home/me").toolboxes["dev"].servers["s"]
    assert isinstance(child, ChildConfig)
    assert (child.command, child.args) == ("./run", ("./x",))
    assert (child.cwd, child.env_file) == (str(tmp_path / "b"), "/home/me/.env")
    for python, meant in {
        "python3": "python3",
        "./.venv/bin/python": str(tmp_path / ".venv/bin/python"),
    }.items():
        folder = loaded(with_server({"path": "/t", "python": python})).toolboxes["dev"].servers["s"]
        assert isinstance(folder, FolderConfig)
        assert (folder.path, folder.python) == ("/t", meant)


def test_a_disabled_server_is_left_out(loaded: Load) -> None:
    config = loaded(with_server({"command": "${NOT_SET}", "disabled": True}))
    assert config.toolboxes["dev"].servers == {}
    assert config.warnings == ()


def test_order_is_that_of_the_file(loaded: Load) -> None:
    names = ["z", "a", "m"]
    data = {
        "toolboxes": {n: {"description": n, "mcpServers": {m: {"command": m} for m in names}} for n in names}
    }
    config = loaded(data)
    assert list(config.toolboxes) == names
    assert list(config.toolboxes["a"].servers) == names


def test_twenty_mistakes_are_twenty_problems_in_the_order_of_the_file(loaded: Load) -> None:
    data = {
        "toolbox": {},  # 1
        "toolboxes": {
            "bad name": {"description": "d", "mcpServers": {}},  # 2
            "blank": {"description": "  ", "mcpServers": {}},  # 3
            "missing": {"mcpServers": {}},  # 4
            "dev": {
                "description": "d",
                "detail": "xml",  # 5
                "mcpServers": {
                    "none": {},  # 6
                    "two": {"command": "x", "url": "https://example.com"},  # 7
                    "typo": {"comand": "x"},  # 8
                    "child": {
                        "command": "x",
                        "args": "-y",  # 9
                        "env": {"PORT": 8080, "DEBUG": True},  # 10, 11
                        "headers": {},  # 12
                        "type": "sse",  # 13
                        "limits": {"timeout": "soon", "maxLine": "0MB", "concurrency": 0},  # 14, 15, 16
                    },
                    "remote": {"url": "ftp://example.com", "toolFilters": [1]},  # 17, 18
                },
            },
        },
        "log": {"redact": ["("], "path": "${NOT_SET}"},  # 19, 20
    }
    with pytest.raises(ConfigInvalid) as caught:
        loaded(data)
    dev = "config.toolboxes.dev"
    assert [problem.place for problem in caught.value.problems] == [
        "config.toolbox",
        'config.toolboxes["bad name"]',
        "config.toolboxes.blank.description",
        "config.toolboxes.missing",
        f"{dev}.detail",
        f"{dev}.mcpServers.none",
        f"{dev}.mcpServers.two",
        f"{dev}.mcpServers.typo.comand",
        f"{dev}.mcpServers.child.args",
        f"{dev}.mcpServers.child.env.PORT",
        f"{dev}.mcpServers.child.env.DEBUG",
        f"{dev}.mcpServers.child.headers",
        f"{dev}.mcpServers.child.type",
        f"{dev}.mcpServers.child.limits.timeout",
        f"{dev}.mcpServers.child.limits.maxLine",
        f"{dev}.mcpServers.child.limits.concurrency",
        f"{dev}.mcpServers.remote.url",
        f"{dev}.mcpServers.remote.toolFilters[0]",
        "config.log.redact[0]",
        "config.log.path",
    ]
    text = str(caught.value)
    assert "workbench-config.json cannot be used: 20 problems" in text
    assert text.count("\n") == 20
    fixes = {problem.place.rpartition(".")[2]: problem.fix for problem in caught.value.problems}
    assert fixes["PORT"] == 'Write "8080"'
    assert fixes["DEBUG"] == 'Write "true"'
    assert fixes["comand"] == 'Did you mean "command"?'
    assert fixes["toolbox"] == 'Did you mean "toolboxes"?'


@pytest.mark.parametrize(
    ("entry", "place", "wrong"),
    [
        ({"command": " "}, ".command", "not possible"),
        ({"command": "x", "env": {"A=B": "x"}}, '.env["A=B"]', "variable's name"),
        ({"command": "x", "args": ["a\0b"]}, ".args[0]", "not possible"),
        ({"url": "https://x.org", "headers": {"A": "b\n"}}, ".headers.A", "not possible"),
        ({"url": "https://x.org", "headers": {"A b": "c"}}, '.headers["A b"]', "header's name"),
        ({"url": "https://"}, ".url", "not possible"),
        ({"url": "https://x.org", "type": "stdio"}, ".type", "does not fit"),
        ({"url": "https://x.org", "type": "http", "transport": "sse"}, ".transport", "different"),
        ({"url": "https://x.org", "type": "ws"}, ".type", "not possible"),
        (
            {"url": "https://x.org", "auth": {"type": "client_credentials", "clientId": "x"}},
            ".auth",
            "clientSecret",
        ),
        ({"path": "x", "type": "stdio"}, ".type", "does not fit"),
        ({"path": "x", "args": []}, ".args", "belongs"),
        ({"command": "x", "limits": {"timeout": 0}}, ".limits.timeout", "not possible"),
        ({"command": "x", "limits": {"timeout": None}}, ".limits.timeout", "not possible"),
        ({"command": "x", "limits": {"maxLine": -1}}, ".limits.maxLine", "not possible"),
        ({"command": "x", "limits": {"time_out": 1}}, ".limits.time_out", "Unknown"),
        ({"command": "x", "inheritEnv": "PATH"}, ".inheritEnv", "true or false or a list"),
        ({"command": "x", "disabled": "true"}, ".disabled", "true or false"),
        ({"command": "x", "env": {"A": None}}, ".env.A", "found null"),
        ([], "", "found a list"),
        ("npx", "", "found a string"),
    ],
)
def test_a_mistake_in_a_server_is_one_problem_at_its_place(
    loaded: Load, entry: object, place: str, wrong: str
) -> None:
    [(found, (told, _))] = problems_of(loaded, with_server(entry)).items()
    assert found == AT_SERVER + place
    assert wrong in told


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "nul\0", "\x1b[31m", "\x7f", "x" * 257, "c1\x9b"])
def test_a_server_name_that_cannot_be_shown_or_said_is_refused_on_one_line(loaded: Load, name: str) -> None:
    data = {"toolboxes": {"dev": {"description": "d", "mcpServers": {name: {"command": "x"}}}}}
    with pytest.raises(ConfigInvalid) as caught:
        loaded(data)
    [problem] = caught.value.problems
    assert "must be 1 to 256 characters" in problem.wrong
    assert str(problem).isprintable()
    assert len(problem.place) < 200


@pytest.mark.parametrize(
    "name", ["../x", "__proto__", "a/b", "a%b", "with space", "ünï", "open_toolbox", "x" * 256]
)
def test_any_other_server_name_is_plain_text(loaded: Load, name: str) -> None:
    data = {"toolboxes": {"dev": {"description": "d", "mcpServers": {name: {"command": "x"}}}}}
    assert loaded(data).toolboxes["dev"].servers[name].name == name


@pytest.mark.parametrize("name", ["", "a b", "a/b", "dev\n", "x" * 65, "é"])
def test_a_toolbox_name_outside_the_pattern_is_refused(loaded: Load, name: str) -> None:
    data = {"toolboxes": {name: {"description": "d", "mcpServers": {}}}}
    [(wrong, _)] = problems_of(loaded, data).values()
    assert "1 to 64 letters" in wrong


def test_a_key_written_twice_is_a_problem(loaded: Load) -> None:
    text = '{"toolboxes": {"dev": {"description": "a", "description": "b", "mcpServers": {}}}}'
    assert list(problems_of(loaded, text)) == ["config.toolboxes.dev.description"]


def test_servers_of_another_client_at_the_root_are_told_where_they_belong(loaded: Load) -> None:
    problems = problems_of(loaded, {"mcpServers": {"a": {"command": "x"}}})
    assert list(problems) == ["config.mcpServers"]
    assert "Put it into a toolbox" in problems["config.mcpServers"][1]


def test_a_required_key_that_is_misspelt_is_one_problem(loaded: Load) -> None:
    data = {"toolboxes": {"dev": {"Description": "d", "mcp_servers": {}}}}
    assert {place: fix for place, (_, fix) in problems_of(loaded, data).items()} == {
        "config.toolboxes.dev.Description": 'Did you mean "description"?',
        "config.toolboxes.dev.mcp_servers": 'Did you mean "mcpServers"?',
    }


def test_a_token_for_a_toolbox_that_is_not_there_is_a_problem(loaded: Load) -> None:
    data = with_server({"command": "x"}, http={"tokens": {"ci": {"token": "abc", "toolboxes": ["devs"]}}})
    assert problems_of(loaded, data) == {
        "config.http.tokens.ci.toolboxes[0]": ("No such toolbox", 'Did you mean "dev"?')
    }


def test_one_token_of_two_names_is_a_problem(loaded: Load) -> None:
    tokens = {"a": {"token": "${TOKEN}"}, "b": {"token": "other"}, "c": {"token": CANARY}}
    assert problems_of(loaded, with_server({"command": "x"}, http={"tokens": tokens}), TOKEN=CANARY) == {
        "config.http.tokens.c.token": (
            'The same token as that of "a"',
            "Give each name a token of its own",
        )
    }


@pytest.mark.parametrize("token", ["pässwörd-9876", " canary-9876", "canary-9876\n", "9876\x7f", "", " "])
def test_a_token_that_no_request_can_show_is_a_problem(loaded: Load, token: str) -> None:
    data = with_server({"command": "x"}, http={"tokens": {"ci": {"token": "${TOKEN}"}}})
    [(place, (wrong, fix))] = problems_of(loaded, data, TOKEN=token).items()
    assert place == "config.http.tokens.ci.token"
    assert "9876" not in wrong
    assert fix == "It must be ASCII characters, without blanks around them"


@pytest.mark.parametrize(
    ("key", "value", "fix"),
    [
        ("hosts", "https://x.org", "must be a host alone"),
        ("hosts", "x.org/mcp", "must be a host alone"),
        ("hosts", "x org", "must be a host alone"),
        ("hosts", "bücher.example", "must be a host alone"),
        ("hosts", "fd00::1", '"[fd00::1]"'),
        ("origins", "x.org", "must be scheme and host alone"),
        ("origins", "https://x.org/app", "must be scheme and host alone"),
        ("origins", "https://bücher.example", "must be scheme and host alone"),
        ("origins", "https://", "must be scheme and host alone"),
        ("origins", " https://x.org", "must be scheme and host alone"),
    ],
)
def test_a_host_or_origin_that_no_request_can_have_is_a_problem(
    loaded: Load, key: str, value: str, fix: str
) -> None:
    data = with_server({"command": "x"}, http={key: ["*", value]})
    [(place, (_, told))] = problems_of(loaded, data).items()
    assert place == f"config.http.{key}[1]"
    assert fix in told


def test_hosts_origins_and_tokens_that_a_request_can_have_are_taken(loaded: Load) -> None:
    hosts = ["*", "localhost", "${HOST}", "Tools.Example.com:8484", "[fd00::1]", "[fd00::1]:8484", "10.0.0.1"]
    origins = [
        "*",
        "null",
        "https://x.org",
        "http://X.org:8080/",
        "chrome-extension://abc",
        "https://${HOST}",
    ]
    tokens = {name: {"token": name} for name in ["a", "with blank", "~/+.=!"]}
    http = {"hosts": hosts, "origins": origins, "tokens": tokens}
    taken = loaded(with_server({"command": "x"}, http=http), HOST="tools.internal").http
    assert (len(taken.hosts), len(taken.origins), len(taken.tokens)) == (7, 6, 3)


def test_a_missing_variable_in_a_server_is_that_servers_problem_and_a_warning(loaded: Load) -> None:
    data = with_server({"url": "https://x.org", "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"}})
    config = loaded(data)
    problem = config.toolboxes["dev"].servers["s"].problem
    assert problem is not None
    assert problem == f"environment variable DOCS_TOKEN is not set ({AT_SERVER}.headers.Authorization)"
    assert any(problem in warning for warning in config.warnings)
    assert config.secrets == frozenset()


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "${V}"},
        {"command": "${V}"},
        {"path": "${V}", "limits": {"timeout": "${V}"}},
        {"url": "https://x.org", "transport": "${V}", "headers": {"${V}": "x"}},
        {"url": "https://x.org", "auth": {"type": "${V}"}},
        {"command": "x", "env": {"${V}": "x"}, "args": ["${V}"]},
        {"httpUrl": "${V}"},
    ],
)
def test_a_missing_variable_anywhere_in_a_server_stops_nothing(loaded: Load, entry: object) -> None:
    problem = loaded(with_server(entry)).toolboxes["dev"].servers["s"].problem
    assert problem is not None
    assert "environment variable V is not set" in problem


def test_a_missing_variable_hides_no_other_mistake(loaded: Load) -> None:
    data = with_server({"command": "x", "env": {"A": "${V}", "B": 1}, "limits": {"timeout": "${V}"}})
    assert list(problems_of(loaded, data)) == [f"{AT_SERVER}.env.B"]


@pytest.mark.parametrize(
    "data",
    [
        {"toolboxes": {}, "log": {"path": "${V}"}},
        {"toolboxes": {"${V}": {"description": "d", "mcpServers": {}}}},
        {"toolboxes": {"a": {"description": "${V}", "mcpServers": {}}}},
        {"toolboxes": {"a": {"description": "d", "mcpServers": {"${V}": {"command": "x"}}}}},
    ],
)
def test_a_missing_variable_anywhere_else_stops_the_start(loaded: Load, data: object) -> None:
    [(wrong, fix)] = problems_of(loaded, data).values()
    assert wrong == "Environment variable V is not set"
    assert "${V:-" in fix


def test_a_secret_of_the_environment_is_not_told(loaded: Load) -> None:
    data = with_server({"command": "x", "limits": {"timeout": "${TOKEN}"}})
    with pytest.raises(ConfigInvalid) as caught:
        loaded(data, TOKEN="canary-secret")
    assert "canary" not in str(caught.value)


CANARY = "canary-9876"


@pytest.mark.parametrize(
    ("entry", "place"),
    [
        ({"url": "https://x.org", "headers": {"X-Team": f"{CANARY}\n"}}, ".headers.X-Team"),
        ({"command": "x", "env": {"TEAM": f"{CANARY}\0"}}, ".env.TEAM"),
        ({"command": "x", "env": {"API_KEY": 9876}}, ".env.API_KEY"),
        ({"command": "x", "env": {"TEAM": 1234567899876}}, ".env.TEAM"),
        ({"url": "https://x.org", "auth": {"clientId": f"{CANARY}\0"}}, ".auth.clientId"),
        ({"url": f"htps://me:{CANARY}@x"}, ".url"),
        ({"command": "x", "args": [f"--key={CANARY}\0"]}, ".args[0]"),
        (
            {"url": "https://x.org", "headers": {f"Authorization: Bearer {CANARY * 9}": ""}},
            '.headers["Authorization: ***"]',
        ),
        ({"command": "x", "env": {f"TEAM={CANARY}": ""}}, '.env["TEAM=***"]'),
        ({"command": "x", f"Authorization: {CANARY}": ""}, '["Authorization: ***"]'),
    ],
)
def test_what_may_be_a_secret_is_not_told(loaded: Load, entry: object, place: str) -> None:
    [(found, told)] = problems_of(loaded, with_server(entry)).items()
    assert found == AT_SERVER + place
    assert "9876" not in f"{found} {told}"


def test_a_token_is_not_told(loaded: Load) -> None:
    data = with_server({"command": "x"}, http={"tokens": {"ci": {"token": f"{CANARY}\0"}}})
    [(place, told)] = problems_of(loaded, data).items()
    assert place == "config.http.tokens.ci.token"
    assert "9876" not in f"{told}"


def test_a_long_key_is_not_cut_in_the_middle_of_a_secret(loaded: Load) -> None:
    data = with_server({"url": "https://x.org", "headers": {"A ${TOKEN}": ""}})
    [place] = problems_of(loaded, data, TOKEN=CANARY * 9)
    assert place == f'{AT_SERVER}.headers["A ***"]'


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"command": "x", "limits": {"timeout": "ten minutes"}}, '"ten minutes" is not possible here'),
        ({"url": "https://x.org", "transport": "websockets"}, '"websockets" is not possible here'),
        ({"url": "ftp://example.com"}, '"ftp://example.com" is not possible here'),
        ({"command": " "}, '" " is not possible here'),
    ],
)
def test_a_wrong_word_is_told_to_be_recognized(loaded: Load, entry: object, told: str) -> None:
    [(wrong, _)] = problems_of(loaded, with_server(entry)).values()
    assert wrong == told


def test_a_variable_that_is_no_utf_8_does_no_harm(loaded: Load) -> None:
    child = loaded(with_server({"command": "x", "args": ["${V}"]}), V="\udcff").toolboxes["dev"].servers["s"]
    assert isinstance(child, ChildConfig)
    assert child.args == ("\udcff",)
    assert list(problems_of(loaded, with_server({"command": "${V}", "args": 1}), V="\udcff")) == [
        f"{AT_SERVER}.args"
    ]


@pytest.mark.parametrize("depth", [60, 300, 500, 900, 990, 50_000])
def test_any_depth_of_nesting_is_a_clear_error(loaded: Load, depth: int) -> None:
    assert problems_of(loaded, '{"toolboxes": {}, "x": ' + "[" * depth + "]" * depth + "}") == {
        "config": ("The JSON is nested too deeply", "Take some levels away")
    }


@pytest.mark.parametrize("text", ["[]", '"x"', "null", "1", "{}", '{"toolboxes": []}'])
def test_a_file_that_is_no_configuration_is_a_clear_error(loaded: Load, text: str) -> None:
    assert len(problems_of(loaded, text)) == 1


def test_a_file_that_cannot_be_read_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigUnreadable, match="is a directory"):
        load(str(tmp_path), {})
    with pytest.raises(ConfigUnreadable, match="no such file"):
        load(str(tmp_path / "nowhere"), {})


def test_a_good_configuration_is_loaded_without_slow_imports(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(json.dumps(with_server({"command": "x", "env": {"A": "${NOT_SET}"}, "autoApprove": []})))
    code = (
        "import sys; from mcp_workbench.config import configuration\n"
        f"configuration({str(file)!r}, {{}}, '/')\n"
        "slow = ('jsonschema_rs', 'typer', 'click', 'rich', 'difflib', 'hashlib', 'subprocess')\n"
        "print([name for name in slow if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.strip() == "[]"


SPICE = st.sampled_from(
    """toolboxes mcpServers description command url path env headers limits timeout log redact http tokens
    type auth toolFilters includeTools httpUrl sandbox ${A} ${B:-x} ${ $${ _c 10m stdio (
    https://x.org""".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | SPICE | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(SPICE | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=25,
)
SERVERS = st.dictionaries(
    SPICE | st.text(max_size=3), st.dictionaries(SPICE, JSON, max_size=6) | JSON, max_size=3
)
TOOLBOX = st.fixed_dictionaries(
    {"description": SPICE, "mcpServers": SERVERS}, optional={"limits": JSON, "detail": JSON}
)
NEARLY = st.fixed_dictionaries(
    {"toolboxes": st.dictionaries(SPICE, TOOLBOX | JSON, max_size=3)},
    optional={"log": JSON, "http": JSON, "limits": JSON},
)


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=JSON | NEARLY)
def test_any_json_is_a_configuration_or_a_configuration_error(loaded: Load, data: object) -> None:
    with contextlib.suppress(ConfigError):
        loaded(data, A="value")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_configuration_or_a_configuration_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "c.json"
    file.write_bytes(content)
    with pytest.raises(ConfigError):
        load(str(file), {})
