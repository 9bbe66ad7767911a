"""Which configured values must never be shown. Masking them is the work of whoever writes."""

import re

# Values for which nobody keeps a secret, however long: the words of settings, numbers, and, unless the name
# speaks of a secret, places: paths, and addresses without credentials.
_PLAIN = re.compile(r"true|false|yes|no|on|off|none|null|[+-]?[0-9.,_:]{1,12}", re.IGNORECASE)
_PATH = re.compile(r"(?:~|\.{1,2})?/[^\s=+]*|[A-Za-z]:\\\S*")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s@?#]*/?", re.IGNORECASE)
_SECRET_NAME = re.compile(
    r"token|secret|passw|passphrase|pwd|pass$|api[-_]?key|access[-_]?key|private[-_]?key|key$|auth(?!or(?!iz))|credential|cookie"
    r"|session|signature|bearer|dsn$|jwt|[-_]pat$",
    re.IGNORECASE,
)
_PUBLIC_NAMES = frozenset(
    """home hostname lang logname oldpwd path pwd shell term tmpdir user
    accept accept-language content-type user-agent""".split()
)


def speaks_of_a_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def secrets_in(name: str, value: str) -> set[str]:
    """The parts of a value that are secret: at least 8 characters, or 4 where the name speaks of a secret."""
    value = value.strip()  # as it is sent, and quoted
    telling = speaks_of_a_secret(name)
    if len(value) < (4 if telling else 8) or _PLAIN.fullmatch(value) or name.lower() in _PUBLIC_NAMES:
        return set()
    if not telling and (_PATH.fullmatch(value) or _ADDRESS.fullmatch(value)):
        return set()
    found = {value}
    # `Bearer abc`: the token alone is just as secret, and is what a server's error quotes.
    scheme, _, rest = value.partition(" ")
    if scheme.lower() in {"bearer", "basic", "token", "apikey"} and len(rest) >= 4:
        found.add(rest)
    password = re.search(r"://[^/\s:@]*:([^/\s@]{4,})@", value)
    if password:
        found |= _decoded(password[1])
    for parameter, content in re.findall(r"[?&]([^=&#\s]+)=([^&#\s]+)", value):
        for each in _decoded(content):
            found |= secrets_in(parameter, each)
    return found


def _decoded(part: str) -> set[str]:
    """A part of an address as it is written, and as the server reads it."""
    if "%" not in part:
        return {part}
    from urllib.parse import unquote  # most addresses have no use for it

    return {part, unquote(part)}
