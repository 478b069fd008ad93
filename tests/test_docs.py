"""The documents say what is so: their code runs, their commands work, their links lead somewhere."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import operator
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dynid.casestudies.cases import CASES
from dynid.cli.estimation import METHODS, RULES
from dynid.cli.main import COMMANDS, run
from dynid.compile.kernels import RobotKernels
from dynid.compile.trace import KERNELS
from dynid.core.tables import table_from
from dynid.estimators.uncertainty import KINDS
from dynid.excitation.limits import LimitFile
from dynid.model.friction import BUILT_IN, FUNCTIONS
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import DrivesFile, robot_from_table

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
PAGES = [*sorted(DOCS.glob("*.md")), *(ROOT / f"{n}.md" for n in ("README", "ARCHITECTURE", "CONTRIBUTING"))]
FENCE = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*match) for match in FENCE.findall(page.read_text(encoding="utf-8"))]


def script(path: Path) -> ModuleType:
    """A committed script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(text: str) -> str:
    """Text with its spaces folded: tables are padded to their width."""
    return " ".join(text.split())


def check_command(line: str, expected: list[str]) -> None:
    program, *arguments = shlex.split(line, comments=True)
    assert program == "dynid", line
    told = re.search(r"# exit code (\d)$", line)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    assert code == (int(told[1]) if told else 0), f"{line}: {err.getvalue()}"
    said = words(out.getvalue())
    for part in expected:
        assert words(part) in said, f"{line} does not print {part!r}"


def check_console(block: Block) -> None:
    """Every ``$ dynid …`` line exits 0 and prints the lines shown below it."""
    commands: list[tuple[str, list[str]]] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            commands.append((line.removeprefix("$ "), []))
        elif line.strip():
            commands[-1][1].append(line)
    assert commands
    for line, expected in commands:
        check_command(line, expected)


@pytest.fixture(scope="module")
def demo_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs that the demo writes."""
    folder = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        patch.syspath_prepend(EXAMPLES)
        demo = script(EXAMPLES / "demo.py")
        demo.write_logs(load_robot("tx40"))
        patch.delitem(sys.modules, "_arm")
    return folder / demo.LOGS


@pytest.fixture
def beside_the_demo(demo_logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand where ``make demo`` has written its logs."""
    shutil.copytree(demo_logs, tmp_path / "out" / "demo-logs")
    monkeypatch.chdir(tmp_path)


def run_page(name: str, same: Callable[[str, str], bool] = operator.eq) -> dict[str, Any]:
    """Run the blocks of a page in order, compare what they print with what it shows, and give its names."""
    names: dict[str, Any] = {}
    printed = ""
    kinds = []
    for block in blocks(DOCS / f"{name}.md"):
        kinds.append(block.language)
        if block.language == "toml" and block.text.startswith("# plan.toml"):
            Path("plan.toml").write_text(block.text)
        elif block.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(block.text, f"{name}.md", "exec"), names)
            printed = out.getvalue()
        elif block.language == "text":
            assert same(printed, block.text), f"{name}.md prints {printed!r}"
        elif block.language == "console":
            check_console(block)
    assert {"python", "text", "console"} <= set(kinds)
    return names


@pytest.mark.usefixtures("beside_the_demo")
@pytest.mark.parametrize("name", ["getting-started", "fitting"])
def test_the_tutorials_run_and_print_what_they_show(name: str) -> None:
    run_page(name)


def alike(printed: str, shown: str) -> bool:
    """Whether the words are the same and the numbers within a tenth."""
    number = re.compile(r"\d+(?:\.\d+)?")
    figures = [np.array(number.findall(text), dtype=float) for text in (printed, shown)]
    return number.sub("#", printed) == number.sub("#", shown) and np.allclose(*figures, rtol=0.1, atol=0.01)


def test_an_identified_model_does_better_than_the_one_from_cad(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("mujoco", "pinocchio"):
        pytest.importorskip(package, reason=f"the page about using the model loads it in {package}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        page = run_page("using-the-model", alike)
    finally:
        for module in ("cad_arm", "identified_arm"):
            sys.modules.pop(module, None)
    assert page["left"]["identified"] < 0.01 * page["left"]["CAD"]
    assert page["sag"]["identified"] < 0.01 < 2.0 < page["sag"]["CAD"]
    assert page["tracking"]["identified"] < 0.01 * page["tracking"]["CAD"]
    assert np.all(page["threshold"]["identified"] < 0.25 * page["threshold"]["CAD"])
    assert len(page["alarms"]["CAD"]) == 0
    first, last = page["alarms"]["identified"][[0, -1]]
    assert 0 < first < 50
    assert last < page["end"] - page["start"] + 100
    assert page["replayed"]["identified"] < 0.05 * page["replayed"]["cad"]


def test_a_log_is_followed_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = run_page("online", alike)
    assert page["last"]["used"] > 300
    assert abs(page["estimate"].values[0] - 3.45) < 0.02


def test_the_readme_s_python_runs() -> None:
    # The first block is a newcomer's script: tests/test_face.py runs it on logs.
    _, code = [block.text for block in blocks(ROOT / "README.md") if block.language == "python"]
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["W"].shape == (1000, 7, 64)
    assert names["tau"].shape == (1000, 7)


def test_the_design_from_python_runs() -> None:
    first = next(block.text for block in blocks(DOCS / "excitation.md") if block.language == "python")
    names: dict[str, Any] = {}
    exec(compile(first, "excitation.md", "exec"), names)
    assert names["reference"].samples == 15_000
    shown = next(block.text for block in blocks(DOCS / "excitation.md") if block.language == "toml")
    file = table_from(tomllib.loads(shown), LimitFile, axes=6)
    assert file.limits.share == 0.9
    assert file.workcell is not None
    assert file.workcell.walls[0].name == "the fence"


def test_the_mapping_shown_is_the_demo_s(demo_logs: Path) -> None:
    shown = next(block.text for block in blocks(DOCS / "fitting.md") if block.language == "toml")
    written = (demo_logs / "tx40.toml").read_text(encoding="utf-8")
    assert tomllib.loads(shown) == tomllib.loads(written)


@pytest.mark.usefixtures("beside_the_demo")
@pytest.mark.parametrize("name", ["cli", "excitation", "export", "index", "underactuated"])
def test_commands_work_as_written(name: str) -> None:
    consoles = [block for block in blocks(DOCS / f"{name}.md") if block.language == "console"]
    assert consoles
    for block in consoles:
        check_console(block)


def test_robot_files_of_the_documents_load() -> None:
    texts = [block.text for block in blocks(DOCS / "robot-files.md") if block.language == "toml"]
    (gears,) = [text for text in texts if text.startswith("# drives.toml")]
    assert table_from(tomllib.loads(gears), DrivesFile).drives.drives().coupled_motors() == (1,)
    texts.remove(gears)
    robots = [robot_from_table(tomllib.loads(text)) for text in texts]
    assert len(robots) == 7
    example, shaped, friction, elastic, wrist, coupled, braked = robots
    assert sum(braked.lives_in("braked")) == sum(braked.lives_in("free")) + 2
    assert [shape.link for shape in shaped.shapes] == [-1, 0, 1, 1]
    assert elastic.table.names[-3:] == ("K1", "D1", "B2")
    assert elastic.driven == (True, True, False)
    assert example.joints[3].symbols["r"] == "RL4"
    assert example.parameters["M3"] == 4.0
    assert "Stribeck1" in friction.table.names
    assert wrist.table.names[-3:] == ("Iam2", "Fvm2", "Fcm2")
    assert coupled.n_coordinates == 2


def test_friction_terms_and_functions_are_described() -> None:
    text = (DOCS / "robot-files.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in text for name in BUILT_IN)
    assert all(name in text for name in FUNCTIONS)


def test_every_kernel_is_described() -> None:
    kernels, cli = ((DOCS / name).read_text(encoding="utf-8") for name in ("kernels.md", "cli.md"))
    assert all(f"`{name}`" in cli for name in KERNELS)
    methods = [
        name for name in vars(RobotKernels) if name in KERNELS or name in ("regressor_blocks", "c_source")
    ]
    assert len(methods) > 10
    assert all(f"`{name}(" in kernels for name in methods)


def keys_of(value: Any) -> Iterator[str]:
    """Keys of a document, without those that are names from the robot file."""
    for item in value if isinstance(value, list) else []:
        yield from keys_of(item)
    for key, item in value.items() if isinstance(value, dict) else []:
        yield key
        if key not in ("lengths", "symbols", "limits", "facts", "options"):
            yield from keys_of(item)


LOG = "out/demo-logs/exciting.csv --map out/demo-logs/tx40.toml"


@pytest.mark.usefixtures("beside_the_demo")
def test_every_json_key_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    commands = (
        "model scara --per-joint --json",
        "robots --json",
        "export scara --to c --kernel regressor --json",
        "model nobody --json",
        "map out/demo-logs/exciting.csv --json",
        f"check {LOG} --robot tx40 --json",
        f"fit tx40 {LOG} --split 0.7 --json",
        f"validate out/fit {LOG} --json",
        f"predict out/fit {LOG} --json",
        "export out/fit --to latex --json",
        "simulate scara --controller scara --reference scara --duration 2 --json",
        "excite scara --starts 1 --json",
    )
    for command in commands:
        run(command.split())
        keys = set(keys_of(json.loads(capsys.readouterr().out)))
        assert keys
        assert [key for key in sorted(keys) if f"`{key}`" not in text and f'"{key}"' not in text] == []


def test_every_option_and_case_is_described() -> None:
    text, cases = ((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("cli", "reproduce"))
    for command in COMMANDS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            run([command, "--help"])
        options = set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", out.getvalue(), re.MULTILINE))
        assert [option for option in sorted(options - {"--help"}) if f"`{option}" not in text] == []
        assert f"## `dynid {command}" in text
    assert all(f"`{case}`" in text and f"## `{case}`" in cases for case in CASES)
    assert all(f"`{name}`" in text for name in (*METHODS, *RULES, *KINDS))


def test_every_page_is_in_the_table_of_contents() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    assert [page.stem for page in sorted(DOCS.glob("*.md")) if page.stem not in (*index, "index")] == []


def test_every_folder_of_the_source_is_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    folders = [path.parent.name for path in (ROOT / "src" / "dynid").glob("*/__init__.py")]
    assert len(folders) > 10
    assert [name for name in folders if f"| `{name}/` |" not in text] == []


def test_the_readme_s_table_is_fresh() -> None:
    """When it is not: python docs/make_robot_table.py."""
    maker = script(DOCS / "make_robot_table.py")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert maker.with_table(text, maker.robot_table()) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_of_keys_are_fresh(page: Path) -> None:
    """When they are not: python docs/make_key_tables.py."""
    text = page.read_text(encoding="utf-8")
    assert script(DOCS / "make_key_tables.py").with_tables(text) == text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    local = [target.split("#")[0] for target in targets if not re.match(r"https?:|mailto:|#", target)]
    lost = [target for target in local if not (page.parent / target).exists()]
    assert not lost
