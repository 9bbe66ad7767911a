"""The configuration as it is written: the shape of the file, from which its JSON Schema is made.

Types, patterns and names are checked here; what one key says about another is in `agreement`.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .values import DURATION, SIZE

# Python's `$` also matches before a last newline, that of JSON Schema does not.
_END = r"$(?!\n)"


def _shape(pattern: str, message: str) -> Meta:
    # Editors show `errorMessage`; so do we.
    return Meta(pattern=pattern, extra_json_schema={"errorMessage": message})


def _key(description: str, default: Any = UNSET) -> Meta:
    return Meta(description=description, extra_json_schema=None if default is UNSET else {"default": default})


NotBlank = Annotated[str, _shape(r"^[^\x00]*[^\s\x00][^\x00]*" + _END, "must not be empty, and holds no NUL")]
Text = Annotated[str, _shape(r"^[^\x00]*" + _END, "must not hold a NUL character")]
Duration = (
    Annotated[float, Meta(gt=0, extra_json_schema={"errorMessage": "must be more than 0"})]
    | Annotated[str, Meta(pattern=DURATION)]
)
Size = (
    Annotated[int, Meta(gt=0, extra_json_schema={"errorMessage": "must be more than 0"})]
    | Annotated[str, Meta(pattern=SIZE)]
)
Count = Annotated[int, Meta(ge=1, le=1_000_000, extra_json_schema={"errorMessage": "must be 1 to 1000000"})]
Amount = Annotated[
    int, Meta(ge=0, le=1_000_000_000, extra_json_schema={"errorMessage": "must be 0 to 1000000000"})
]

_A_DURATION = {"errorMessage": 'must be seconds (90) or a duration like "10m", "1h30m", "500ms", more than 0'}
_A_SIZE = {"errorMessage": 'must be bytes (16384) or a size like "100MB", "64 MiB", more than 0'}

ToolboxName = Annotated[
    str, _shape(r"^[A-Za-z0-9._-]{1,64}" + _END, "must be 1 to 64 letters, digits, '.', '_' or '-'")
]
ServerName = Annotated[
    str,
    _shape(
        r"^(?=.*\S)[^\x00-\x1f\x7f-\x9f]{1,256}" + _END,
        "must be 1 to 256 characters, not blank, without control characters",
    ),
]
VariableName = Annotated[str, _shape(r"^[^=\x00]+" + _END, "must be a variable's name, without '=' and NUL")]
HeaderName = Annotated[
    str, _shape(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+" + _END, "must be a header's name: letters, digits and '-'")
]
HeaderValue = Annotated[str, _shape(r"^[^\r\n\x00]*" + _END, "must be a single line")]
# 1 to 65535
_PORT = r"0*([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
# Somebody, a host, and a port, which an editor may still see as a variable.
_AUTHORITY = rf"([^\s/?#]*@)?(\[[^\s/?#\]]+\]|[^\s/?#@:\[\]]+)(:({_PORT})?|:\$\{{\S*)?"
Address = Annotated[
    str,
    _shape(
        rf"^[hH][tT][tT][pP][sS]?://{_AUTHORITY}([/?#]\S*)?{_END}",
        "must be an http:// or https:// address, its port 1 to 65535",
    ),
]
# What a request can say; editors see variables where we see their values.
_VARIABLE = r".*\$\{.*"
Token = Annotated[
    str, _shape(r"^[!-~]([ -~]*[!-~])?" + _END, "must be ASCII characters, without blanks around them")
]
Host = Annotated[
    str,
    _shape(
        rf"^ *({_VARIABLE}|\*|(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{{1,5}})?) *" + _END,
        'must be a host alone, like "tools.example.com" or "[fd00::1]", or "*"',
    ),
]
Origin = Annotated[
    str,
    _shape(
        rf"^({_VARIABLE}|\*|[Nn][Uu][Ll][Ll]|[A-Za-z][A-Za-z0-9+.-]*://[!-\"$-.0->A-~]+/*)" + _END,
        'must be scheme and host alone, like "https://tools.example.com", or "*"',
    ),
]


class Written(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """Strict: a key that is not here is a mistake."""


def _duration(description: str, default: float | None) -> Meta:
    return Meta(description=description, extra_json_schema={"default": default, **_A_DURATION})


class LimitsEntry(Written, frozen=True):
    """Limits; a server's come before its toolbox's, and those before the root's."""

    connect_timeout: Annotated[
        Duration | UnsetType,
        _duration(
            "Time to connect and list tools; 120 for npx, uvx, bunx, pipx and docker, which may download.", 30
        ),
    ] = UNSET
    timeout: Annotated[Duration | UnsetType, _duration("Time for one call.", 600)] = UNSET
    idle_timeout: Annotated[
        Duration | UnsetType | None,
        _duration("Time without progress that ends a call, unless a user is asked; null for none.", None),
    ] = UNSET
    idle_shutdown: Annotated[
        Duration | UnsetType | None,
        _duration("Time without calls that puts a server to sleep; null for never.", None),
    ] = UNSET
    concurrency: Annotated[Count | UnsetType, _key("Calls that one server gets at a time.", 32)] = UNSET
    queue: Annotated[Amount | UnsetType, _key("Calls that may wait for one server.", 256)] = UNSET
    connections: Annotated[Count | UnsetType, _key("Connections to one server.", 8)] = UNSET
    max_line: Annotated[
        Size | UnsetType,
        Meta(
            description="Longest message from a server, in bytes.",
            extra_json_schema={"default": "64 MiB", **_A_SIZE},
        ),
    ] = UNSET


class AuthEntry(Written, frozen=True):
    """How we sign in to a remote server."""

    type: Annotated[
        Literal["oauth", "client_credentials"],
        _key("`oauth` asks a person once; `client_credentials` nobody."),
    ] = "oauth"
    client_id: Annotated[NotBlank | UnsetType, _key("The client's id, where it is registered.")] = UNSET
    client_secret: Annotated[NotBlank | UnsetType, _key("The client's secret; best as `${VAR}`.")] = UNSET
    scopes: Annotated[list[NotBlank] | str, _key("What to ask for: a list, or separated by spaces.")] = []


class ServerEntry(Written, frozen=True):
    """Exactly one of `command` (a child process), `url` (remote) and `path` (a folder of tool files)."""

    command: Annotated[NotBlank | UnsetType, _key("The program of a child server, over stdio.")] = UNSET
    args: Annotated[list[Text], _key("Its arguments, passed as written.")] = []
    env: Annotated[dict[VariableName, Text], _key("Variables for it, besides a small safe environment.")] = {}
    env_file: Annotated[NotBlank | UnsetType, _key("A file of NAME=value lines for it.")] = UNSET
    cwd: Annotated[NotBlank | UnsetType, _key("Its working folder; else the workbench's own.")] = UNSET
    inherit_env: Annotated[
        bool | list[NotBlank],
        _key('More of the workbench\'s variables: names and patterns like "PREFIX_*", or true for all.'),
    ] = False
    url: Annotated[Address | UnsetType, _key("The address of a remote server.")] = UNSET
    headers: Annotated[dict[HeaderName, HeaderValue], _key("Headers for it.")] = {}
    auth: Annotated[AuthEntry | UnsetType, _key("How to sign in there.")] = UNSET
    path: Annotated[NotBlank | UnsetType, _key("A folder of tool files.")] = UNSET
    python: Annotated[
        NotBlank | UnsetType, _key("The interpreter for these files; else the workbench's own.")
    ] = UNSET
    type: Annotated[
        Literal["stdio", "http", "streamable-http", "streamableHttp", "sse"] | UnsetType,
        _key("Optional; must agree with the kind: `stdio` for `command`, the others for `url`."),
    ] = UNSET
    transport: Annotated[
        Literal["stdio", "http", "streamable-http", "streamableHttp", "sse"] | UnsetType,
        _key("The same as `type`; `sse` for remote servers of the old kind."),
    ] = UNSET
    tool_filters: Annotated[
        list[NotBlank] | UnsetType,
        _key("Names and `*`/`?` patterns of tools to offer; a leading `!` excludes; [] is none.", ["*"]),
    ] = UNSET
    disabled: Annotated[bool, _key("Leaves the server out.")] = False
    limits: Annotated[LimitsEntry, _key("Limits of this server.")] = LimitsEntry()
    read_only: Annotated[
        bool | UnsetType, _key("Offer only tools that declare readOnlyHint; else as its toolbox says.", False)
    ] = UNSET
    pinned: Annotated[
        bool | UnsetType,
        _key("Offer only tools whose definition is the accepted one; else as its toolbox.", False),
    ] = UNSET


class ToolboxEntry(Written, frozen=True):
    """A named group of servers, opened together."""

    description: Annotated[NotBlank, _key("What the toolbox is for; agents choose by it.")]
    mcp_servers: Annotated[
        dict[ServerName, ServerEntry], _key("Servers by name; entries of other clients fit.")
    ]
    detail: Annotated[
        Literal["json", "signature"], _key("How tools are listed if the agent does not say.")
    ] = "json"
    listing_limit: Annotated[Count, _key("Characters of a listing from which signatures are given.")] = 80_000
    open_on_use: Annotated[
        bool | UnsetType, _key("Let use_tool open this toolbox; else as the root says.", False)
    ] = UNSET
    read_only: Annotated[bool, _key("Offer only tools that declare readOnlyHint.")] = False
    pinned: Annotated[bool, _key("Offer only tools whose definition is the accepted one.")] = False
    limits: Annotated[LimitsEntry, _key("Limits of the servers in this toolbox.")] = LimitsEntry()


class LogEntry(Written, frozen=True):
    """The call log: one line for every call."""

    path: Annotated[NotBlank | UnsetType, _key("The file.", "log/ToolBox.log")] = UNSET
    max_size: Annotated[
        Size, Meta(description="Size at which the log is rotated.", extra_json_schema=_A_SIZE)
    ] = "100MB"
    keep: Annotated[Amount, _key("Rotated files that are kept.")] = 5
    value_limit: Annotated[Count, _key("Characters of a value that are logged.")] = 16_384
    redact: Annotated[
        list[NotBlank], _key("Regular expressions of what to mask, besides known secrets.")
    ] = []
    record: Annotated[bool, _key("Keep results too, for replay.")] = False


class TokenEntry(Written, frozen=True):
    """Someone who may use the workbench over HTTP."""

    token: Annotated[Token, _key("The bearer token; best as `${VAR}`.")]
    toolboxes: Annotated[list[str] | UnsetType, _key("The toolboxes that it may see; else all.")] = UNSET


class OAuthEntry(Written, frozen=True):
    """An identity provider whose tokens are accepted."""

    issuer: Annotated[Address, _key("Its address.")]
    audience: Annotated[NotBlank, _key("What its tokens must be made for.")]
    jwks: Annotated[Address | UnsetType, _key("Where its keys are; else found through the issuer.")] = UNSET


class HttpEntry(Written, frozen=True):
    """Serving over HTTP."""

    listen: Annotated[
        Annotated[str, _shape(rf"^(\S*:)?(0+|{_PORT}){_END}", 'must be "host:port", the port at most 65535')],
        _key("Host and port."),
    ] = "127.0.0.1:8484"
    tokens: Annotated[dict[ServerName, TokenEntry], _key("Tokens by the name that the log shows.")] = {}
    oauth: Annotated[OAuthEntry | UnsetType, _key("Accept tokens of an identity provider.")] = UNSET
    hosts: Annotated[list[Host], _key("More host names to answer to.")] = []
    origins: Annotated[list[Origin], _key("More web origins to answer to.")] = []
    max_body: Annotated[Size, Meta(description="Longest request, in bytes.", extra_json_schema=_A_SIZE)] = (
        "4 MiB"
    )


class ConfigFile(Written, frozen=True):
    """The configuration of MCP Workbench."""

    toolboxes: Annotated[dict[ToolboxName, ToolboxEntry], _key("Toolboxes by name.")]
    log: Annotated[LogEntry, _key("The call log.")] = LogEntry()
    search: Annotated[bool, _key("Offer find_tools.")] = True
    http: Annotated[HttpEntry, _key("Serving over HTTP.")] = HttpEntry()
    open_on_use: Annotated[bool, _key("Let use_tool open a closed toolbox by itself.")] = False
    limits: Annotated[LimitsEntry, _key("Limits of all servers.")] = LimitsEntry()
