"""Digests of texts: hashes of the syntax trees of all modules that a text uses, without docstrings and comments.

Machine code is stored under the digest of its text: a changed comment leaves it valid, and a change of one scheme makes
the code of that scheme stale only. Parsing takes a fifth of a second: digests that come with the package are stored
beside a hash of the source files, and read as long as these are unchanged. The text of a user, which may change while
the package does not, is parsed in each process.
"""

import ast
import functools
import hashlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from nonsmooth.compile import machine
from nonsmooth.exceptions import InputError

ROOT = Path(__file__).resolve().parent.parent
#: source files of texts, and of what compiles them
SOURCES = ("compile/records/*.py", "compile/kernels.py", "compile/lower.py", "step/*.py", "schemes/*/*.py")
#: modules that each text uses without importing them: records that it links to, and what lowers it
COMPILED_BY = ("nonsmooth.step.fields", "nonsmooth.compile.lower")
#: digests of the texts whose machine code comes with the package, and the hash of the source files
INDEX = Path(__file__).resolve().parent / "shipped" / "index.json"


def source_digest(root: Path = ROOT) -> str:
    """Hash of the source files."""
    digest = hashlib.sha256()
    for pattern in SOURCES:
        for file in sorted(root.glob(pattern)):
            digest.update(f"{file.relative_to(root).as_posix()}\n".encode() + file.read_bytes())
    return digest.hexdigest()


#: hash of the source files that this process imports
SOURCES_AT_START = source_digest()


@functools.cache
def digest_of(module: str) -> str:
    """The digest of a text, given the full name of its module, of the sources that this process imports."""
    try:
        shipped = json.loads(INDEX.read_text(encoding="utf-8"))
    except OSError:
        shipped = {"sources": "", "texts": {}}
    if shipped["sources"] == SOURCES_AT_START and module in shipped["texts"]:
        return str(shipped["texts"][module])
    if not module.startswith("nonsmooth."):
        return tree_digest(module)
    known = machine.cache_folder() / f"{SOURCES_AT_START[:32]}-{module}.digest"
    digest = machine.read(known)
    if digest is None:
        digest = tree_digest(module).encode()
        machine.write(known, digest)
    return digest.decode()


def tree_digest(module: str, root: Path = ROOT) -> str:
    """The digest of a text, computed from the syntax trees of the modules of the package that it uses, and of those
    beside it if it is of another one."""
    found: dict[str, str] = {}
    pending, beside, own = [module, *COMPILED_BY], root.parent, None
    if not module.startswith("nonsmooth."):
        spec = None if module == "__main__" else importlib.util.find_spec(module)
        file = getattr(sys.modules.get(module), "__file__", None) if spec is None else spec.origin
        if file is None:
            raise InputError(f"The text {module} of a stepper is in no file; write it in a module, and give its name.")
        own = Path(file).resolve()
        beside = own.parents[module.count(".") + (own.name == "__init__.py")]
    while pending:
        name = pending.pop()
        first, *parts = name.split(".")
        path = (root if first == "nonsmooth" else beside / first).joinpath(*parts)
        package, path = path / "__init__.py", path.with_suffix(".py")
        if first != "nonsmooth":
            if own is None or "." in module and first != module.partition(".")[0]:  # of another library
                continue
            if name == module:
                path = own
            elif "." in module and package.is_file():
                path = package
        if name in found or not path.is_file():  # a package, or a name within a module
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found[name] = "".join(_written(tree))
        for node in tree.body if first == "nonsmooth" else ast.walk(tree):
            if isinstance(node, ast.Import):
                pending += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                within = len(parts) + 1 - node.level + (path.name == "__init__.py")
                above = [first, *parts][:within] if node.level else []
                source = ".".join([*above, *filter(None, [node.module])])
                pending += [source, *(f"{source}.{alias.name}" for alias in node.names)]
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def _written(node: ast.AST) -> Iterator[str]:
    """A syntax tree as text, alike for all versions of Python: without docstrings and empty fields."""
    yield type(node).__name__
    for name, value in ast.iter_fields(node):
        values = value if isinstance(value, list) else [value]
        if name == "body" and values and isinstance(values[0], ast.Expr) and isinstance(values[0].value, ast.Constant):
            values = values[1:]
        if values and values != [None]:
            yield f"({name}"
            for one in values:
                yield from _written(one) if isinstance(one, ast.AST) else (f" {one!r}",)
            yield ")"
