"""Which configuration is used: the one asked for, a trusted one here, the user's own, or the default."""

import os
from collections.abc import Mapping

import msgspec

from ..errors import ConfigNotFound
from .folders import at_home, state_folder, user_config
from .loading import load
from .structs import Config, FolderConfig, LogConfig, ToolboxConfig
from .trust import Trust, place

LOCAL_NAME = "workbench-config.json"

_DEFAULT_TOOLBOX = "workbench"
_DEFAULT_DESCRIPTION = "Tools that come with the workbench, to try it out and to look after it"
_DEFAULT_SERVER = "tools"
_BUNDLED = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bundled")


class Found(msgspec.Struct, frozen=True):
    """`path` is None where there is no file; `content` is what was trusted, so that nothing else is used."""

    path: str | None
    untrusted: str | None = None
    content: bytes | None = None


def find(config_option: str | None, environ: Mapping[str, str], cwd: str) -> Found:
    """Raises ConfigNotFound for a file that was asked for and is not there."""
    for asked, by in (
        (config_option, "--config"),
        (environ.get("WORKBENCH_CONFIG") or None, "WORKBENCH_CONFIG"),
    ):
        if asked is not None:
            path = os.path.join(cwd, at_home(asked, environ))
            if not os.path.exists(path):
                raise ConfigNotFound(path, by)
            return Found(path)
    here, own = os.path.join(cwd, LOCAL_NAME), user_config(environ)
    untrusted = None
    # In the folder of the user's own file, that one is not found by chance.
    if os.path.isfile(here) and place(here) != place(own):
        content = _content(here)
        if content is not None and Trust(environ).holds(here, content):
            return Found(here, content=content)
        untrusted = here
    return Found(own if os.path.exists(own) else None, untrusted)


def embedded_default(environ: Mapping[str, str]) -> Config:
    """Without any file: the bundled tools, and a log in the state folder."""
    tools = FolderConfig(toolbox=_DEFAULT_TOOLBOX, name=_DEFAULT_SERVER, path=_BUNDLED)
    toolbox = ToolboxConfig(
        name=_DEFAULT_TOOLBOX, description=_DEFAULT_DESCRIPTION, servers={_DEFAULT_SERVER: tools}
    )
    log = LogConfig(path=os.path.join(state_folder(environ), "log", "ToolBox.log"))
    return Config(toolboxes={_DEFAULT_TOOLBOX: toolbox}, log=log)


def configuration(config_option: str | None, environ: Mapping[str, str], cwd: str) -> Config:
    """What a start uses. Raises ConfigError."""
    found = find(config_option, environ, cwd)
    config = embedded_default(environ) if found.path is None else load(found.path, environ, found.content)
    return msgspec.structs.replace(config, untrusted=found.untrusted)


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None
