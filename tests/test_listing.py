"""What `open_toolbox` answers: every server's own words, in order, filtered, and never mixed up."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from tests.support.client import Client, is_notification, text
from tests.support.launch import Launcher, child, configuration, toolbox

CHANGED = "notifications/tools/list_changed"


def offering(*pages: list[Any], **keys: Any) -> dict[str, Any]:
    """A server that lists these pages of tools."""
    return child("listed", json.dumps(pages), **keys)


def tool(name: str, **more: object) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def opened(workbench: Launcher, **servers: Any) -> tuple[Client, dict[str, Any]]:
    client = workbench(configuration(dev=toolbox(description="All sorts", **servers)))
    return client, client.open("dev")


def addresses(listing: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["server"], each["name"]) for each in listing["tools"]]


def test_a_listing_has_the_shape_of_the_contract(workbench: Launcher) -> None:
    definition = tool("read_file", description="Read a file")
    _, listing = opened(workbench, filesystem=offering([definition]))
    assert listing == {
        "toolbox": "dev",
        "description": "All sorts",
        "servers_connected": 1,
        "tools": [
            {
                "name": "read_file",
                "toolbox": "dev",
                "server": "filesystem",
                "description": "Read a file",
                "inputSchema": {"type": "object"},
            }
        ],
    }


def test_the_text_block_and_the_structured_content_are_the_same_object(workbench: Launcher) -> None:
    client, _ = opened(workbench, a=offering([tool("é\u2028\U0001f600", x=[1e3, None])]))
    result = client.call("open_toolbox", {"toolbox": "dev"})
    assert set(result) == {"content", "structuredContent"}
    said: Any = json.loads(text(result), object_pairs_hook=list)
    last = json.loads(client.lines[-1], object_pairs_hook=list)
    assert dict(dict(last)["result"])["structuredContent"] == said


ODD = {
    "icons": [{"src": "x"}],
    "outputSchema": {"type": "object", "$defs": {"b": {}, "a": {}}},
    "title": "A title",
    "_meta": {"z": 1, "a": [None, 1.0, 12345678901234567890]},
    "annotations": {"readOnlyHint": True, "never_heard_of": 1},
    "x-unknown": {"b": 1, "a": 2},
    "execution": {"taskSupport": "optional"},
    "inputSchema": {"type": "object", "properties": {"z": {}, "a": {"enum": [1, "é"]}}, "required": ["z"]},
    "description": "",
    "name": "odd name/with %2F and \u2028",
}


def test_whatever_a_server_says_of_a_tool_is_passed_on_untouched(workbench: Launcher) -> None:
    client, listing = opened(workbench, a=offering([ODD]))
    (entry,) = listing["tools"]
    assert entry == {**ODD, "toolbox": "dev", "server": "a"}
    for key in ("inputSchema", "_meta", "x-unknown", "outputSchema"):
        assert json.dumps(entry[key]) == json.dumps(ODD[key])
    assert text(client.use(f"dev/a/{ODD['name']}")) == ODD["name"]


def test_a_tool_without_a_description_has_no_such_key(workbench: Launcher) -> None:
    _, listing = opened(workbench, a=offering([tool("bare"), {"name": "barer"}, tool("b", description="x")]))
    assert [set(each) for each in listing["tools"]] == [
        {"name", "toolbox", "server", "inputSchema"},
        {"name", "toolbox", "server"},
        {"name", "toolbox", "server", "inputSchema", "description"},
    ]


def test_every_page_is_listed_in_the_servers_order(workbench: Launcher) -> None:
    pages = [[tool("zeta"), tool("alpha")], [], [tool("beta")], [tool("a1"), tool("a0")]]
    _, listing = opened(workbench, paged=offering(*pages))
    assert [each["name"] for each in listing["tools"]] == ["zeta", "alpha", "beta", "a1", "a0"]


def test_servers_are_listed_as_configured_whoever_is_faster(workbench: Launcher, tmp_path: Path) -> None:
    servers = {"z": child("probed", "dies"), "a": offering([tool("t")]), "m": offering([tool("t")])}
    _, listing = opened(workbench, **servers)
    assert addresses(listing) == [("z", "hello"), ("a", "t"), ("m", "t")]


def test_the_same_tool_name_in_two_servers_and_names_like_ours_are_never_mixed_up(
    workbench: Launcher,
) -> None:
    servers = {"a": child("echo", "open_toolbox", "use_tool"), "b": child("echo", "open_toolbox")}
    client, listing = opened(workbench, **servers)
    assert ("a", "open_toolbox") in addresses(listing)
    assert ("b", "open_toolbox") in addresses(listing)
    assert text(client.use("dev/a/open_toolbox", {"toolbox": 5})) == '{"toolbox": 5}'
    assert text(client.use("dev/a/use_tool", {"x": 1})) == '{"x": 1}'
    pids = {json.loads(text(client.use(f"dev/{server}/about")))["pid"] for server in servers}
    assert len(pids) == 2


FILTERED: list[tuple[list[str], list[str]]] = [
    (["*"], ["read_a", "read_b", "write_a", "list"]),
    (["read_*", "list"], ["read_a", "read_b", "list"]),
    (["list", "read_*"], ["read_a", "read_b", "list"]),
    (["*_?"], ["read_a", "read_b", "write_a"]),
    (["*", "!write_*"], ["read_a", "read_b", "list"]),
    (["!write_*"], ["read_a", "read_b", "list"]),
    (["READ_*"], []),
    ([], []),
]


def test_filters_hold_in_the_listing_and_at_the_call(workbench: Launcher) -> None:
    names = ["read_a", "read_b", "write_a", "list"]
    page = [tool(name) for name in names]
    servers = {f"s{n}": offering(page, toolFilters=filters) for n, (filters, _) in enumerate(FILTERED)}
    client, listing = opened(workbench, **servers)
    assert listing["servers_connected"] == len(FILTERED)
    for server, (_, left) in zip(servers, FILTERED, strict=True):
        assert [name for listed, name in addresses(listing) if listed == server] == left
        for name in names:
            missing = f"Error executing tool: Tool '{name}' not found in server '{server}' (toolbox 'dev')"
            assert text(client.use(f"dev/{server}/{name}")) == (name if name in left else missing)


def test_toolboxes_and_servers_with_nothing_in_them_are_valid(workbench: Launcher) -> None:
    config = configuration(
        empty=toolbox(description="Nothing"),
        bare=toolbox(none=offering([]), off=child("starting", "exits", "x", disabled=True)),
    )
    client = workbench(config)
    assert client.open("empty") == {
        "toolbox": "empty",
        "description": "Nothing",
        "servers_connected": 0,
        "tools": [],
    }
    listing = client.open("bare")
    assert (listing["servers_connected"], listing["tools"]) == (1, [])
    assert "_errors" not in listing
    assert "**bare** (1 server)" in client.initialize()["instructions"]
    assert "**empty** (0 servers)" in client.initialize()["instructions"]
    said = text(client.use("bare/off/x"))
    assert said == "Error executing tool: Server 'off' not found in toolbox 'bare'"


def test_opening_again_answers_at_once_with_the_same_listing(workbench: Launcher, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    client, listing = opened(workbench, a=child("echo", env={"STARTS": str(starts)}))
    began = time.monotonic()
    for _ in range(50):
        assert client.open("dev") == listing
    assert time.monotonic() - began < 1
    assert len(starts.read_text().splitlines()) == 1


def test_several_toolboxes_are_open_at_once(workbench: Launcher) -> None:
    client = workbench(configuration(one=toolbox(a=child("echo")), two=toolbox(a=child("echo"))))
    client.open("one")
    client.open("two")
    assert text(client.use("one/a/echo", {"n": 1})) == '{"n": 1}'
    assert text(client.use("two/a/echo", {"n": 2})) == '{"n": 2}'


def test_a_changed_list_is_the_current_listing(workbench: Launcher) -> None:
    client, listing = opened(workbench, a=offering([tool("x"), tool("change")], [tool("y")]))
    client.initialize()
    assert [each["name"] for each in listing["tools"]] == ["x", "change", "y"]
    client.use("dev/a/change")
    client.wait_for(lambda each: is_notification(each, CHANGED))
    assert [each["name"] for each in client.open("dev")["tools"]] == ["y", "x", "change"]


def test_what_a_tool_has_added_can_be_used_at_once(workbench: Launcher) -> None:
    """The server says so before it answers; whoever has the answer need not wait for the listing."""
    first, second = [tool("change"), tool("x")], [tool("change"), tool("y")]
    client, _ = opened(workbench, a=child("listed", json.dumps([first, second]), "turning"))
    for name in ("y", "x", "y", "x", "y"):
        client.use("dev/a/change", {"times": 3})
        assert text(client.use(f"dev/a/{name}")) == name
        client.use("dev/a/change")
        client.use("dev/a/change")
        assert addresses(client.open("dev")) == [("a", "change"), ("a", name)]


def test_a_change_before_the_first_listing_is_over_is_not_missed(workbench: Launcher) -> None:
    client, listing = opened(workbench, a=child("listed", json.dumps([[tool("x")], [tool("y")]]), "early"))
    assert addresses(listing) == [("a", "x"), ("a", "y")]
    assert text(client.use("dev/a/y")) == "y"


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_change_around_the_standing_request_is_not_missed(workbench: Launcher, when: str) -> None:
    client, _ = opened(workbench, a=child("modern", f"grows-{when}"))
    until = time.monotonic() + 5
    while ("a", "grown") not in addresses(client.open("dev")):
        assert time.monotonic() < until


def test_a_server_may_have_no_list_to_write(workbench: Launcher) -> None:
    _, listing = opened(workbench, a=child("listed", "[null]", "verbatim"), b=offering([tool("x")]))
    assert (listing["servers_connected"], addresses(listing)) == (2, [("b", "x")])
    assert "_errors" not in listing


def test_a_tool_with_a_blank_name_is_not_offered(workbench: Launcher) -> None:
    client, listing = opened(workbench, a=offering([tool(""), tool(" "), tool("x")]))
    assert addresses(listing) == [("a", "x")]
    said = text(client.call("use_tool", {"tool": {"toolbox": "dev", "server": "a", "name": ""}}))
    assert said == "Invalid tool invocation parameters: tool.name: Tool name cannot be empty"


def test_two_thousand_pages_are_listed(workbench: Launcher) -> None:
    _, listing = opened(workbench, a=offering(*([tool(f"t{number}")] for number in range(2000))))
    assert len(listing["tools"]) == 2000


def test_many_changes_at_once_are_few_listings(workbench: Launcher) -> None:
    client, _ = opened(workbench, a=offering([tool("change"), tool("lists")]))
    client.initialize()
    client.use("dev/a/change", {"times": 200})
    client.wait_for(lambda each: is_notification(each, CHANGED))
    time.sleep(0.2)
    assert int(text(client.use("dev/a/lists"))) <= 3
    assert len(client.notifications(CHANGED)) <= 2


def test_the_declared_output_schema_holds_for_every_answer(workbench: Launcher, tmp_path: Path) -> None:
    config = configuration(
        empty=toolbox(),
        some=toolbox(a=offering([ODD, tool("bare"), {"name": "barer"}]), b=child("starting", "exits", "x")),
        odd=toolbox(a=offering([tool("t", inputSchema=True), tool("u", description=None, signature=5)])),
    )
    client = workbench(config)
    (schema,) = [
        each["outputSchema"]
        for each in client.request("tools/list")["result"]["tools"]
        if each["name"] == "open_toolbox"
    ]
    validator = jsonschema_rs.validator_for(schema)
    for name in config["toolboxes"]:
        validator.validate(client.open(name))
    validator.validate(
        {
            **client.open("some"),
            "_errors": ["x"],
            "_notes": ["x"],
            "tools": [{"name": "a", "toolbox": "b", "server": "c", "signature": "a()", "description": "x"}],
        }
    )


ODD_DEFINITIONS = [
    '{"name":"t","description":"\\ud800","inputSchema":{"type":"object"}}',
    '{"name":"t","x":{"b":1,"b":2},"big":123456789012345678901234567890}',
    '{"name":"t","deep":' + "[" * 400 + "]" * 400 + "}",
    '{"name":"t","description":5,"inputSchema":true}',
    '{"name":"t","description":null,"inputSchema":null}',
    '{"name":"t","x":1e400,"inputSchema":{"type":"object"}}',
    '{"name":"t","inputSchema":{"properties":[1],"required":{"a":1}}}',
    '{"name":"t","inputSchema":{"$ref":"#"}}',
    '{"name":"t","inputSchema":{"properties":{"a":{"default":1e400,"enum":[{}]}}}}',
]


@pytest.fixture(scope="module")
def odd(shared_workbench: Launcher) -> Client:
    """Has a toolbox for each odd definition, with a good one beside it."""
    fine = offering([tool("fine")])
    servers = [child("listed", f"[[{definition}]]", "verbatim") for definition in ODD_DEFINITIONS]
    return shared_workbench(
        configuration(**{f"odd{number}": toolbox(a=each, b=fine) for number, each in enumerate(servers)})
    )


@pytest.mark.parametrize("number", range(len(ODD_DEFINITIONS)))
def test_odd_json_in_a_definition_does_not_cost_the_toolbox(odd: Client, number: int) -> None:
    listing = odd.open(f"odd{number}")
    assert ("b", "fine") in addresses(listing)
    assert listing["servers_connected"] == 2
    if ("a", "t") in addresses(listing):
        assert text(odd.use(f"odd{number}/a/t")) == "t"
        in_short = listed_in(odd, f"odd{number}", detail="signature")
        assert [type(entry["signature"]) for entry in in_short["tools"]] == [str, str]
    else:
        (said,) = listing["_errors"]
        assert said.startswith(f"Failed to connect to server 'a' in toolbox 'odd{number}': ")


def test_definitions_that_cannot_be_called_do_not_hide_the_others(workbench: Launcher) -> None:
    page: list[Any] = [tool("first"), {"inputSchema": {}}, {"name": 5}, "text", None, tool("last")]
    _, listing = opened(workbench, a=offering(page))
    assert [each["name"] for each in listing["tools"]] == ["first", "last"]


def test_server_names_are_plain_text(workbench: Launcher) -> None:
    names = ["../../etc", "__proto__", "a b", "é\u2028'\"<script>", "x" * 256]
    client, listing = opened(workbench, **{name: child("echo", name) for name in names})
    for name in names:
        assert (name, "echo") in addresses(listing)
        ref = {"toolbox": "dev", "server": name, "name": name}
        assert text(client.call("use_tool", {"tool": ref, "arguments": {"a": 1}})) == '{"a": 1}'


# Signatures

READ = tool(
    "read_file",
    description="Read a file. Files are read from the disk, not from the cloud.",
    inputSchema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "head": {"type": "integer"}},
        "required": ["path"],
    },
    annotations={"readOnlyHint": True},
)


def listed_in(client: Client, toolbox_name: str, **detail: str) -> dict[str, Any]:
    result = client.call("open_toolbox", {"toolbox": toolbox_name, **detail})
    assert json.loads(text(result)) == result["structuredContent"]
    return result["structuredContent"]


def test_signatures_take_the_place_of_schemas_when_asked_for(workbench: Launcher) -> None:
    client, in_full = opened(workbench, fs=offering([READ, tool("bare")]))
    short = listed_in(client, "dev", detail="signature")
    assert "_notes" not in short
    read, bare = short["tools"]
    assert "inputSchema" not in read
    assert read["description"] == "Read a file."
    assert "path: string" in read["signature"]
    assert "head?: integer" in read["signature"]
    assert "\n" not in read["signature"]
    assert read["annotations"] == {"readOnlyHint": True}
    assert (read["toolbox"], read["server"], read["name"]) == ("dev", "fs", "read_file")
    assert "description" not in bare
    assert listed_in(client, "dev", detail="json") == in_full


def test_a_listing_over_the_limit_is_shortened_and_says_so_unless_json_was_asked_for(
    workbench: Launcher,
) -> None:
    client = workbench(
        configuration(
            long={**toolbox(fs=offering([READ])), "listingLimit": 200},
            brief={**toolbox(fs=offering([READ])), "detail": "signature"},
            fits=toolbox(fs=offering([READ])),
        )
    )
    long = listed_in(client, "long")
    assert "signature" in long["tools"][0]
    assert len(long["_notes"]) >= 1
    assert "inputSchema" in listed_in(client, "long", detail="json")["tools"][0]
    assert "_notes" not in listed_in(client, "long", detail="json")
    assert "signature" in listed_in(client, "brief")["tools"][0]
    assert "inputSchema" in listed_in(client, "brief", detail="json")["tools"][0]
    assert "inputSchema" in listed_in(client, "fits")["tools"][0]


def test_the_limit_counts_characters_and_not_bytes(workbench: Launcher) -> None:
    definition = json.dumps(tool("t", description="é" * 300), ensure_ascii=False)
    server = child("listed", f"[[{definition}]]", "verbatim")
    client = workbench(configuration(dev={**toolbox(a=server), "listingLimit": 500}))
    assert "inputSchema" in client.open("dev")["tools"][0]


def test_a_refusal_of_the_arguments_brings_the_full_signature(workbench: Launcher) -> None:
    client, _ = opened(workbench, echo=child("refusing", json.dumps(READ)))
    result = client.use("dev/echo/read_file", {"paht": "x"})
    assert result["isError"] is True
    said, signature = (block["text"] for block in result["content"])
    assert said.startswith("Error executing tool 'read_file' in server 'echo' (toolbox 'dev'): ")
    assert "path is missing" in said
    assert "read_file(" in signature
    assert "path: string" in signature
    assert "not from the cloud" in signature


# Settings that decide what is offered


def test_a_read_only_server_offers_what_declares_to_be_and_says_why_of_the_rest(workbench: Launcher) -> None:
    write = tool("write_file", annotations={"readOnlyHint": False})
    server = offering([write, READ, tool("unsaid")], readOnly=True)
    client, listing = opened(workbench, fs=server)
    assert addresses(listing) == [("fs", "read_file")]
    assert text(client.use("dev/fs/read_file")) == "read_file"
    for name in ("write_file", "unsaid"):
        said = text(client.use(f"dev/fs/{name}"))
        assert said.startswith(
            f"Error executing tool: Tool '{name}' in server 'fs' (toolbox 'dev') is not offered: "
        )
        assert "readOnly" in said


def test_open_on_use_opens_a_toolbox_by_itself(workbench: Launcher) -> None:
    client = workbench(
        configuration(dev={**toolbox(a=child("echo")), "openOnUse": True}, shut=toolbox(a=child("echo")))
    )
    assert text(client.use("dev/a/echo", {"n": 1})) == '{"n": 1}'
    assert text(client.use("shut/a/echo")).endswith("Toolbox 'shut' is not open. Call open_toolbox first.")
