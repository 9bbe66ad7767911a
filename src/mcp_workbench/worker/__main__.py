"""The worker's entry, `python …/worker/__main__.py FOLDER [IMPORT_SECONDS]`: takes the pipe, then serves.

It is started by path, because the interpreter may know nothing of our package.
"""

from __future__ import annotations

import os
import sys


def adopt_package() -> None:
    """Make `import mcp_workbench` mean the source beside this file, whatever else is installed.

    Only that one name is bound: our folder stays off `sys.path`, where it would shadow the modules of the
    tool folder and of the interpreter.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == here:
        del sys.path[0]
    if "mcp_workbench" in sys.modules:
        return
    from importlib.util import module_from_spec, spec_from_file_location

    package = os.path.dirname(here)
    spec = spec_from_file_location(
        "mcp_workbench", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["mcp_workbench"] = module
    spec.loader.exec_module(module)


def main() -> None:
    folder, *limit = sys.argv[1:]
    adopt_package()
    from mcp_workbench.worker.session import Session
    from mcp_workbench.worker.wire import Wire

    del sys.argv[1:]  # a tool file that reads its arguments finds none of ours
    Session(Wire(), folder, *map(float, limit)).serve()


if __name__ == "__main__":
    main()
