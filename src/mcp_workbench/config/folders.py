"""The platform's folders for configuration and state, and nothing of what is in them."""

import os
import sys
from collections.abc import Mapping

_OURS = "mcp-workbench"

# Where there is no home: nothing can be found or made beneath it, and whoever tries is told by its name.
_NOWHERE = "/dev/null/HOME-is-not-set"


def config_folder(environ: Mapping[str, str]) -> str:
    return _platform(environ, "XDG_CONFIG_HOME", ".config")


def state_folder(environ: Mapping[str, str]) -> str:
    return _platform(environ, "XDG_STATE_HOME", ".local/state")


def user_config(environ: Mapping[str, str]) -> str:
    return os.path.join(config_folder(environ), "workbench-config.json")


def private(folder: str) -> str:
    """The folder itself, made if need be and closed to everyone else."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.stat(folder).st_mode & 0o077:
        os.chmod(folder, 0o700)
    return folder


def at_home(path: str, environ: Mapping[str, str]) -> str:
    """`~` and `~/…` in the user's home; any other path as it is."""
    if path == "~" or path.startswith("~/"):
        return _home(environ) + path[1:]
    return path


def as_text(path: str) -> str:
    """A path as it is kept in a file of ours: bytes that are no UTF-8 as escapes."""
    return path.encode("utf-8", "backslashreplace").decode()


def _platform(environ: Mapping[str, str], variable: str, beneath_home: str) -> str:
    # The XDG variables are respected on macOS too: who sets them there means it.
    base = environ.get(variable, "")
    if not os.path.isabs(base):  # the XDG specification: a relative path is to be ignored
        home = "Library/Application Support" if sys.platform == "darwin" else beneath_home
        base = os.path.join(_home(environ), home)
    return os.path.join(base, _OURS)


def _home(environ: Mapping[str, str]) -> str:
    """Never a relative path: what lies in the folder where we happen to be is not the user's own."""
    home = environ.get("HOME", "") or _known_home()
    return home if os.path.isabs(home) else _NOWHERE


def _known_home() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""
