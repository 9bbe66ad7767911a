"""What a child process may see of our environment: little, and nothing that looks like a secret."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence

_NAMES = frozenset(
    """
    PATH HOME USER LOGNAME SHELL TERM COLORTERM LANG LANGUAGE TZ TMPDIR TEMP TMP PWD HOSTNAME
    DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK
    DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT DOCKER_CERT_PATH DOCKER_TLS_VERIFY
    HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY FTP_PROXY
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS PIP_CERT GIT_SSL_CAINFO
    NVM_DIR NVM_BIN VOLTA_HOME FNM_DIR N_PREFIX NODE_PATH
    PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX PIPX_HOME PIPX_BIN_DIR
    SYSTEMROOT __CF_USER_TEXT_ENCODING
    """.split()
)
_PREFIXES = ("LC_", "XDG_", "NPM_CONFIG_", "UV_", "PIP_", "BUN_")
_SECRET = re.compile(r"TOKEN|SECRET|PASS(WORD|WD|PHRASE)|CREDENTIAL|AUTH|API_?KEY|PRIVATE|_KEY(_|$)")
_HARMLESS = frozenset({"SSH_AUTH_SOCK", "XAUTHORITY"})


def child_environment(
    ours: Mapping[str, str], inherit: bool | Sequence[str], declared: Mapping[str, str]
) -> dict[str, str]:
    """The environment of a child: the safe part of ours, what its entry asks for, what its entry declares."""
    if inherit is True:
        return {**ours, **declared}
    wanted = inherit or ()
    passed = {
        name: value
        for name, value in ours.items()
        if is_safe(name) or any(fnmatch.fnmatchcase(name, pattern) for pattern in wanted)
    }
    return {**passed, **declared}


def is_safe(name: str) -> bool:
    """Whether every child may have the variable of this name."""
    upper = name.upper()  # npm_config_* and http_proxy are as often written small
    if upper in _HARMLESS:
        return True
    return (upper in _NAMES or upper.startswith(_PREFIXES)) and not _SECRET.search(upper)


def read_env_file(text: str) -> Iterator[tuple[str, str]]:
    """The assignments of an `.env` file: `NAME=value`, `export NAME="value"`, comments with `#`.

    Raises ValueError with the number of a line that is none of these.
    """
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            raise ValueError(f"line {number} is no NAME=value")
        single, double, plain = match["single"], match["double"], match["plain"]
        if single is not None:
            yield match["name"], single
        elif double is not None:
            yield match["name"], _ESCAPE.sub(lambda m: _ESCAPES.get(m[1], m[1]), double)
        else:
            yield match["name"], plain.strip()


_ASSIGNMENT = re.compile(
    r"""(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)\s*=\s*
        (?: '(?P<single>[^']*)'
          | "(?P<double>(?:[^"\\]|\\.)*)"
          | (?P<plain>(?!['"])(?:(?!\s\#).)*) )
        \s*(?:\#.*)?""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
