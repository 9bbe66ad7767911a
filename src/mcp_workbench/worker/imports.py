"""Importing the folder's files: always from source, and knowing who imports whom.

Bytecode is neither read nor written: it is told apart by second and size, and would bring back the old
version of a file that was saved twice within a second.
"""

from __future__ import annotations

import ast
import itertools
import os
import sys
import threading
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

from . import sources
from .problems import ImportFailed, Problem, SyntaxProblem

_versions = itertools.count(1)
# Python 3.9 cannot tell; there a helper named like a standard module is not recommended.
_STANDARD: frozenset[str] = getattr(sys, "stdlib_module_names", frozenset(sys.builtin_module_names))

_IMPORTERS = ("import_module", "__import__")


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
        elif isinstance(node, ast.Call) and node.args and _name_of(node.func) in _IMPORTERS:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                names.add(first.value.partition(".")[0])
    return names


def _name_of(function: ast.expr) -> str:
    return getattr(function, "attr", "") or getattr(function, "id", "")


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
        self._old: dict[str, ModuleType] = {}
        """What was forgotten, until it has been imported anew."""
        self._broken: set[str] = set()
        """Of those, what could not be."""
        self._thread = threading.local()

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
        return ModuleSpec(fullname, cast("Any", self)) if self._falls_back(fullname) else None

    def _falls_back(self, name: str) -> bool:
        """Whether the old module will do where there is no new one: for whoever is not being loaded itself.

        A version that is kept may still import what a broken save has changed.
        """
        return name in self._old and not getattr(self._thread, "loads", False)

    def create_module(self, spec: ModuleSpec) -> None:
        """Python's own kind of module will do."""

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        name, file = module.__name__, module.__spec__.origin
        falls_back = self._falls_back(name)
        try:
            if file is None or (falls_back and name in self._broken):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            self._execute(module, file)
        except BaseException:
            self._broken.add(name)
            if not falls_back:
                raise
            sys.modules[name] = self._old[name]  # which the import system gives out in place of this one
        self._old.pop(name, None)

    def _execute(self, module: ModuleType, file: str) -> None:
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

    def forget(self, names: set[str]) -> None:
        """Take modules out of `sys.modules`, so that the next import runs them anew."""
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in names and self._is_ours(module):
                self._old[name] = sys.modules.pop(name)
        for name in names:
            self.imports.pop(name, None)
        self._broken = {name for name in self._broken if name.partition(".")[0] not in names}

    def begin_load(self, source: Source) -> None:
        """The calling thread is going to load this file, and until its end gets nothing but what is new.

        What the file imports inside its functions, and used before, is imported now: a helper that is broken
        is a broken save of the files that use it. Raises Problem.
        """
        self._thread.loads = True
        for name in sorted(source.imports & self._old.keys()):
            spec = self.spec(name)
            if spec is None or spec.origin is None:
                continue
            try:
                import_module(name)
            except BaseException as error:
                problem = import_failed(error, os.path.join(self.folder, spec.origin))
                if isinstance(error, _HelperProblem):
                    raise problem from error
                raise Problem(f"its helper {spec.origin}: {problem.reason}", problem.fix) from error

    def _is_ours(self, module: ModuleType | None) -> bool:
        """Also said of a module that is not loaded: it may become ours."""
        return module is None or getattr(getattr(module, "__spec__", None), "loader", None) is self


class _Last:
    def __init__(self, modules: FolderModules) -> None:
        self._modules = modules

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return self._modules.spec(fullname)
