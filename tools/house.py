"""Measures of the house: how large it is, how far one fit walks through it, and what stands in it twice.

``python tools/house.py`` prints the table of this tree; ``--against PATH`` puts another checkout beside it.
``--json`` prints numbers only. The walk of a fit is measured by running ``dynid fit`` on a log that
``dynid simulate`` makes: every Python function called in ``src/dynid`` is seen by a profiler.
"""

from __future__ import annotations

import argparse
import ast
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SHORT = 60
"""Lines below which a file with one importer is counted."""
WALKED = {"wls": "tx40", "didim": "scara"}
"""Robots of the catalog on which the walk of a fit is measured."""
RUN = 6
"""Equal lines in a row that count as a duplicate."""
FACTORISATIONS = ("qr", "svd", "lstsq", "pinv", "matrix_rank", "eigh", "eig", "eigvalsh", "cond")
"""Functions of numpy.linalg and scipy.linalg that cost a decomposition."""


def sources(root: Path) -> dict[str, Path]:
    """Modules of the package by dotted name."""
    package = root / "src" / "dynid"
    return {
        ".".join(("dynid", *path.relative_to(package).with_suffix("").parts)): path
        for path in sorted(package.rglob("*.py"))
    }


def folder_of(module: str) -> str:
    """Top folder of a module; "." for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 2 and parts[1] != "__init__" else "."


def sizes(modules: dict[str, Path]) -> dict[str, tuple[int, int]]:
    """Files and lines per folder."""
    found: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for name, path in modules.items():
        folder = folder_of(f"{name}.") if path.name == "__init__.py" else folder_of(name)
        found[folder][0] += 1
        found[folder][1] += len(path.read_text(encoding="utf-8").splitlines())
    return {folder: (files, lines) for folder, (files, lines) in sorted(found.items())}


def importers(modules: dict[str, Path]) -> dict[str, set[str]]:
    """Per module, the modules that import it."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for name, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    target = f"{node.module}.{alias.name}"
                    found[target if target in modules else node.module].add(name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    found[alias.name].add(name)
            elif isinstance(node, ast.Constant) and node.value in modules:
                found[str(node.value)].add(name)  # lazy imports name their module in a string
    return found


def lonely(modules: dict[str, Path]) -> list[str]:
    """Short files that one other module imports."""
    users = importers(modules)
    return [
        name
        for name, path in modules.items()
        if path.name != "__init__.py"
        and len(path.read_text(encoding="utf-8").splitlines()) < SHORT
        and len(users[name] - {name}) == 1
    ]


def class_names_twice(modules: dict[str, Path]) -> list[str]:
    """Names that two classes at module level share."""
    found: collections.Counter[str] = collections.Counter()
    for path in modules.values():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found.update({node.name for node in tree.body if isinstance(node, ast.ClassDef)})
    return sorted(name for name, count in found.items() if count > 1)


def constants(modules: dict[str, Path]) -> int:
    """Names at module level that are given a number."""
    count = 0
    for path in modules.values():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
                count += sum(_is_number(value) for value in values)
    return count


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def one_word_functions(modules: dict[str, Path]) -> int:
    """Functions whose name is a single participle, such as ``joined``."""
    pattern = re.compile(r"^_?[a-z]+(ed|ing)$")
    return sum(
        bool(pattern.match(node.name))
        for path in modules.values()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    )


def duplicated_runs(modules: dict[str, Path]) -> int:
    """Places where six lines in a row stand a second time; imports and docstrings do not count."""
    seen: dict[tuple[str, ...], tuple[str, int]] = {}
    count = 0
    for name, path in modules.items():
        lines = [(at, text) for at, text in _code_lines(path)]
        last = -RUN
        for i in range(len(lines) - RUN + 1):
            run = tuple(text for _, text in lines[i : i + RUN])
            if run in seen and i >= last + RUN:
                count, last = count + 1, i
            seen.setdefault(run, (name, lines[i][0]))
    return count


def _code_lines(path: Path) -> Iterator[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    docs: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docs.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.Import | ast.ImportFrom):
            docs.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for at, line in enumerate(text.splitlines(), 1):
        code = " ".join(line.split())
        if at not in docs and len(code) > 3 and not code.startswith("#"):
            yield at, code


def walk_of_a_fit(root: Path, method: str) -> dict[str, int]:
    """Files crossed, hand-overs and factorisations of one ``dynid fit``, in its own process."""
    script = [sys.executable, str(Path(__file__).resolve()), "--walk", method]
    path = {"PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(script, env={**os.environ, **path}, capture_output=True, text=True, check=True)
    found: dict[str, int] = json.loads(run.stdout.splitlines()[-1])
    return found


def _walk(method: str) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "run.csv"
        robot = WALKED[method]
        made = [
            "simulate",
            robot,
            "--controller",
            robot,
            "--reference",
            robot,
            "--torque-noise-relative",
            "0.02",
        ]
        assert _command([*made, "--seed", "1", "--out", str(log)]) == 0, "dynid simulate failed"
        fit = ["fit", robot, str(log), "--method", method, "--out", str(folder / "out")]
        fit += [] if method == "wls" else ["--controller", robot]
        with _Walk() as walk:
            _command(fit)
    return walk.figures()


def _command(arguments: list[str]) -> int:
    from dynid.cli.main import run

    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        kept, sys.stdout = sys.stdout, nowhere
        try:
            return int(run(arguments) or 0)
        finally:
            sys.stdout = kept


class _Walk:
    """A profiler: files that run, hand-overs (a file calls into another folder), factorisations."""

    def __init__(self) -> None:
        import dynid

        self._home = str(Path(dynid.__file__).parent)
        self.files: set[str] = set()
        self.steps: set[tuple[str, str]] = set()
        self.factorisations = 0

    def __enter__(self) -> _Walk:
        self._undo = list(self._counted())
        sys.setprofile(self._see)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        for undo in self._undo:
            undo()

    def _counted(self) -> Iterator[Callable[[], None]]:
        import numpy as np
        import scipy.linalg

        for library in (np.linalg, scipy.linalg):
            for name in FACTORISATIONS:
                original = getattr(library, name, None)
                if original is not None:
                    setattr(library, name, self._counting(original))
                    yield lambda library=library, name=name, original=original: setattr(
                        library, name, original
                    )

    def _counting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            self.factorisations += 1
            return original(*args, **options)

        return counted

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        callee = self._file(frame)
        if callee is None:
            return
        self.files.add(callee)
        caller = frame.f_back
        while caller is not None and self._file(caller) is None:
            caller = caller.f_back
        if caller is not None:
            file = self._file(caller) or ""
            if _folder(file) != _folder(callee):
                self.steps.add((file, _folder(callee)))

    def _file(self, frame: FrameType) -> str | None:
        name = frame.f_code.co_filename
        return name[len(self._home) + 1 :] if name.startswith(self._home) else None

    def figures(self) -> dict[str, int]:
        return {"files": len(self.files), "handovers": len(self.steps), "factorisations": self.factorisations}


def _folder(file: str) -> str:
    return file.split(os.sep)[0] if os.sep in file else "."


def measure(root: Path, *, walks: bool = True) -> dict[str, Any]:
    """All measures of a checkout."""
    modules = sources(root)
    by_folder = sizes(modules)
    init = ast.parse((root / "src" / "dynid" / "__init__.py").read_text(encoding="utf-8"))
    tables = [node for node in ast.walk(init) if isinstance(node, ast.Dict)]
    names = [n for d in tables for v in d.values for n in ast.walk(v) if isinstance(n, ast.Constant)]
    figures: dict[str, Any] = {
        "files": sum(files for files, _ in by_folder.values()),
        "lines": sum(lines for _, lines in by_folder.values()),
        "folders": by_folder,
        "short files with one importer": len(lonely(modules)),
        "class names with two meanings": len(class_names_twice(modules)),
        "numeric constants": constants(modules),
        "functions named by a participle": one_word_functions(modules),
        "duplicated runs of six lines": duplicated_runs(modules),
        "public names": len(names),
    }
    if walks:
        for method in ("wls", "didim"):
            figures |= {f"{method} fit: {what}": n for what, n in walk_of_a_fit(root, method).items()}
    return figures


def table(now: dict[str, Any], before: dict[str, Any] | None) -> str:
    """The measures as a Markdown table."""
    rows = [(key, value) for key, value in now.items() if key != "folders"]
    folders = dict(now["folders"])
    earlier = {} if before is None else dict(before["folders"])
    head = "| measure | now |" if before is None else "| measure | before | now |"
    lines = [head, "|---|" + "---:|" * (1 if before is None else 2)]
    for key, value in rows:
        lines.append(_row(key, value, None if before is None else before.get(key, "")))
    for folder in sorted({*folders, *earlier}):
        shown = [
            f"{files} / {count}" if files else ""
            for files, count in (folders.get(folder, (0, 0)), earlier.get(folder, (0, 0)))
        ]
        lines.append(_row(f"`{folder}`: files / lines", shown[0], None if before is None else shown[1]))
    return "\n".join(lines)


def _row(key: str, now: object, before: object | None) -> str:
    return f"| {key} | {now} |" if before is None else f"| {key} | {before} | {now} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout, put beside this one")
    parser.add_argument("--json", action="store_true", help="print numbers only")
    parser.add_argument("--walk", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.walk:
        print(json.dumps(_walk(given.walk)))
        return
    now = measure(ROOT)
    before = None if given.against is None else measure(given.against)
    print(json.dumps(now, indent=1) if given.json else table(now, before))


if __name__ == "__main__":
    main()
