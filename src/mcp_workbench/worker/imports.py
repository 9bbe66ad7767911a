"""Importing the folder's files: always from source, and knowing who imports whom.

Bytecode is neither read nor written: it is told apart by second and size, and would bring back the old
version of a file that was saved twice within a second.
"""

from __future__ import annotations

import ast
import itertools
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

from . import sources
from .problems import ImportFailed, Problem, SyntaxProblem

_versions = itertools.count(1)
# Python 3.9 cannot tell; there a helper named like a standard module is not recommended.
_STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset(sys.builtin_module_names))


class Source:
    """A file's text, compiled, with the top-level names that it imports anywhere."""

    def __init__(self, folder: str, name: str) -> None:
        self.path = os.path.join(folder, name)
        text = sources.read(folder, name)
        try:
            tree = ast.parse(text, self.path)
            self.code = compile(tree, self.path, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise SyntaxProblem(error.lineno, error.msg) from None
        except (ValueError, RecursionError, MemoryError) as error:  # null bytes, absurd nesting
            raise SyntaxProblem(None, str(error) or "the file is too complex") from None
        self.imports = frozenset(_imported(tree))


def _imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def module_name(file: str) -> str:
    """The top-level module that a file of the folder belongs to: `_lib/text.py` is of `_lib`."""
    return file.removesuffix(".py").partition("/")[0]


def run(source: Source, name: str) -> ModuleType:
    """Execute a tool file as a module of its own, under a name that no version before it had.

    Raises ImportFailed; the module is in `sys.modules` afterwards, as dataclasses and pydantic need.
    """
    unique = f"{module_name(name)}@{next(_versions)}"
    module = ModuleType(unique)
    module.__file__ = source.path
    sys.modules[unique] = module
    try:
        exec(source.code, module.__dict__)
    except BaseException as error:
        del sys.modules[unique]
        raise import_failed(error, source.path) from error
    return module


def import_failed(error: BaseException, path: str) -> Problem:
    if isinstance(error, _HelperProblem):
        return error.problem
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is not None and missing.startswith("_"):
        missing = None  # a helper that is not there is no package
    return ImportFailed(error, line, missing)


class _HelperProblem(ImportError):
    def __init__(self, name: str, problem: Problem) -> None:
        self.problem = Problem(f"its helper {name}: {problem.reason}", problem.fix)
        super().__init__(str(self.problem))


class FolderModules:
    """Finds what the folder's files import from each other.

    Helpers (`_name`) come before installed packages, but never before the standard library; tool files come
    last: a tool in `requests.py` may still import the package of that name.

    It is a finder and a loader without their base classes, whose import takes longer than all our others.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.files: dict[str, Any] = {}
        self.imports: dict[str, frozenset[str]] = {}
        self._forgotten: dict[str, dict[str, ModuleType]] = {}

    def install(self) -> None:
        sys.meta_path.insert(0, self)
        sys.meta_path.append(_Last(self))

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.startswith("_") and fullname.partition(".")[0] not in _STANDARD:
            return self.spec(fullname)
        return None

    def spec(self, fullname: str) -> ModuleSpec | None:
        stem = fullname.replace(".", "/")
        for file in (f"{stem}/__init__.py", f"{stem}.py"):
            if file in self.files:
                spec = ModuleSpec(
                    fullname, cast("Any", self), origin=file, is_package=file.endswith("/__init__.py")
                )
                if spec.submodule_search_locations is not None:
                    spec.submodule_search_locations.append(os.path.join(self.folder, stem))
                return spec
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's own kind of module will do."""

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        file = module.__spec__.origin
        assert file is not None
        try:
            source = Source(self.folder, file)
        except Problem as problem:
            raise _HelperProblem(file, problem) from None
        module.__file__ = source.path
        top = module_name(file)
        self.imports[top] = self.imports.get(top, frozenset()) | source.imports
        exec(source.code, module.__dict__)

    def touched_by(self, changed: set[str]) -> set[str]:
        """The modules named, and every helper that imports one of them, over any number of steps."""
        # A tool in `json.py` is not what the others mean by `import json`.
        touched = {name for name in changed if self._is_ours(sys.modules.get(name))}
        while True:
            more = {name for name, imports in self.imports.items() if imports & touched} - touched
            if not more:
                return touched
            touched |= more

    def forget(self, names: set[str]) -> dict[str, ModuleType]:
        """Take modules out of `sys.modules`, so that the next import runs them anew; returns the old ones."""
        old = {
            name: module
            for name, module in list(sys.modules.items())
            if name.partition(".")[0] in names and self._is_ours(module)
        }
        for name in old:
            del sys.modules[name]
        for name in names:
            self.imports.pop(name, None)
            self._forgotten[name] = old
        return old

    def recall(self, old: dict[str, ModuleType]) -> None:
        """Put modules back where no newer ones were imported, unless they were to be forgotten once more."""
        for name, module in old.items():
            if self._forgotten[name.partition(".")[0]] is old:
                sys.modules.setdefault(name, module)

    def _is_ours(self, module: ModuleType | None) -> bool:
        """Also said of a module that is not loaded: it may become ours."""
        return module is None or getattr(getattr(module, "__spec__", None), "loader", None) is self


class _Last:
    def __init__(self, modules: FolderModules) -> None:
        self._modules = modules

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return self._modules.spec(fullname)
