"""The pages match the program. A test lists everything that is wrong."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import partial
from inspect import getsource, signature
from pathlib import Path

import click
import pytest

import fastsvm_cli
from fastsvm_cli.cli import COMMANDS
from fastsvm_cli.cli import fastsvm as group
from fastsvm_cli.console.help_page import option_words
from fastsvm_cli.methods import feature_space, order
from fastsvm_cli.methods.border import samples
from fastsvm_cli.methods.order import orders
from fastsvm_cli.methods.reduce import placement
from support import forked
from support.messages import cases
from support.pages import PAGES, anchors, blocks, command_lines, inline, links, prose, sections, stages
from support.paths import DATA, ROOT, SCRIPTS, TESTS
from support.processes import outcome

FRONT, REFERENCE = PAGES["README.md"], PAGES["fastsvm_cli/commands/README.md"]
CONTEXT = click.Context(group)
#: Options of other programs in pages, besides those that scripts use.
OPTIONS_OF_OTHERS = set(cases("options of other programs"))


def _fits(name, words):
    """Whether a command has these options and accepts their values. words may be part of a line; capitals are
    placeholders."""
    options = {option: each for each in group.get_command(CONTEXT, name).params for option in each.opts}
    for word, value in zip(words, [*words[1:], "X"]):
        if re.fullmatch(r"-\w|--[\w-]+", word) and word not in ("-h", "--help"):
            if word not in options:
                return False
            each = options[word]
            if not each.is_flag and not re.fullmatch(r"\W*[A-Z_]+\W*", value):
                for choice in value.split("|") if isinstance(each.type, click.Choice) else [value.rpartition("..")[2]]:
                    each.type.convert(choice, each, CONTEXT)
    return True


def test_pages_can_be_read_as_plain_text():
    """Lines fit a window, and table columns are aligned; the front page is short."""
    wrong = []
    for page, text in PAGES.items():
        wrong += [(page, number) for number, line in enumerate(text.split("\n"), 1) if len(line) > 120]
        table = None
        for number, line in prose(text):
            bars = [at for at, c in enumerate(line) if c == "|"] if line.lstrip().startswith("|") else None
            if bars and table is not None and bars != table:
                wrong.append((page, number))
            table = bars
    assert not wrong and len(FRONT.splitlines()) <= 90
    lines = [line for _, line in prose(FRONT) if line.startswith("|")]
    assert lines and max(len(line.replace("`", "")) for line in lines) <= 65  # a phone scrolls no further


def test_links_lead_somewhere_and_to_every_page():
    wrong, reached, left = [], set(), ["README.md"]
    while left:
        page = left.pop()
        reached.add(page)
        for target, path, anchor in links(page):
            if not (ROOT / path).is_file() or (anchor and anchor not in anchors(path)):
                wrong.append((page, target))
            if path in PAGES and path not in reached:
                left.append(path)
    assert not wrong and reached == set(PAGES)


def test_every_command_is_told_with_its_arguments_in_the_order_of_help():
    told = re.findall(r"^## \w+\n\n`fastsvm (\w+) \[options\] (.*?)` ", REFERENCE, re.M)
    expected = []
    for name in COMMANDS:
        arguments = [each for each in group.get_command(CONTEXT, name).params if isinstance(each, click.Argument)]
        several = [f"{each.name.removesuffix('s')}..." if each.nargs < 0 else each.name for each in arguments]
        words = [word if each.required or each.nargs < 0 else f"[{word}]" for word, each in zip(several, arguments)]
        expected.append((name, " ".join(words)))
    assert told == expected
    assert tuple(re.findall(r"\[`(\w+)`\]\(fastsvm_cli/commands/README.md#\1\)", FRONT)) == COMMANDS


def test_every_option_in_a_page_exists():
    """In a command, in a script, or in the options of the tests."""
    known = {option for name in COMMANDS for each in group.get_command(CONTEXT, name).params for option in each.opts}
    scripts = "".join(path.read_text() for path in SCRIPTS.iterdir() if path.suffix in (".py", ".sh"))
    scripts += (TESTS / "conftest.py").read_text()
    known |= OPTIONS_OF_OTHERS | {"--help", "--version", *re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", scripts)}
    found = {(page, each) for page, text in PAGES.items() for each in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text)}
    assert not [(page, option) for page, option in found if option not in known]


def _parses(stage):
    """Whether a program of ours takes the words of a command line."""
    if stage[0] == "fastsvm":
        group.get_command(CONTEXT, stage[1]).make_context(stage[1], stage[2:])  # usage error on conflicts
        return True
    if stage[0].removeprefix("./").startswith("scripts/"):
        script = ROOT / stage[0]
        return os.access(script, os.X_OK) and all(w in script.read_text() for w in stage[1:] if w.startswith("--"))
    return True


def test_commands_in_texts_and_command_lines_are_possible():
    wrong, seen = [], 0
    for page, text in PAGES.items():
        for code in inline(text):
            if re.match(rf"(fastsvm )?({'|'.join(COMMANDS)}) ", code) and "model_file" not in code:
                name, *words = shlex.split(code.removeprefix("fastsvm "))
                wrong, seen = wrong + [(page, code)] * (not _fits(name, words)), seen + 1
        for line in command_lines(text):
            for stage in stages(line):
                try:
                    wrong, seen = wrong + [(page, line)] * (not _parses(stage)), seen + 1
                except click.ClickException as error:
                    wrong.append((page, line, error.format_message()))
    assert not wrong and seen > 150


#: Further files in command lines -> file in the folder of shared data and models, without which the lines are not run.
SHARED = dict(cases("shared data"))


def _inputs(stage):
    """Input files of a command that is run here; None for others."""
    if stage[0] == "svm-train":
        return [stage[-1]]
    if stage[0] != "fastsvm" or stage[1] not in ("approx", "reduce", "order", "border", "predict", "bound"):
        return None
    values = group.get_command(CONTEXT, stage[1]).make_context(stage[1], stage[2:]).params
    rows = [values["test_file"]] if values.get("test_file") else []
    others = [value for name, value in values.items() if isinstance(value, str) and name != "output_file"]
    files = [*others, *values.get("data_or_model", ())]
    return rows + [file for file in files if re.search(r"\.(t|model|approx|order|reduced|border|train|test)$", file)]


def _comparable(lines, digits):
    """Sorted, since two streams have no order; without times; numbers as # unless their digits count."""
    lines = [line.rstrip() for line in lines if line.strip() and not line.startswith(("Trial on", "Warning"))]
    return sorted(lines if digits else [re.sub(r"[\d.,]+", "#", line) for line in lines])


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.full if page != "README.md" else ())
        for page in PAGES
        if any(line.startswith("$ ") for block in blocks(PAGES[page], "console") for line in block)
    ],
)
def test_shown_outputs_are_what_the_commands_print(page, tmp_path, svm_predict):
    """Command lines are run in the page's order, if their files exist."""
    for name in ("data", "scripts"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name, file in SHARED.items():
        if (ROOT.parent / "shared" / file).is_file():
            (tmp_path / name).symlink_to(ROOT.parent / "shared" / file)
    sys.path.append(str(SCRIPTS))
    from svm_predict import Build

    trained_alike = "3.24" in Build(svm_predict).name  # the svm-train that trained the page's models
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    start, ran = dict(cwd=tmp_path, env={**os.environ, "PATH": path, "COLUMNS": "120"}, text=True), 0
    for block in blocks(PAGES[page], "console"):
        for text in "\n".join(block).removeprefix("$ ").split("\n$ "):
            line, *shown = text.split("\n")
            commands = stages(line)
            files = _inputs(commands[0]) if len(commands) == 1 else None
            without_output = commands[0][1:2] in (["predict"], ["bound"]) and not shown
            if not files or without_output or not all((tmp_path / file).is_file() for file in files):
                continue
            of_ours = commands[0][0] == "fastsvm"
            run = forked.fastsvm if of_ours else partial(subprocess.run, capture_output=True)
            done = run(commands[0][of_ours:], **start)
            assert done.returncode == 0, done.stdout + done.stderr
            digits = trained_alike or not any(file.startswith(("data/", "rings.")) for file in files)
            if shown:
                assert _comparable((done.stdout + done.stderr).split("\n"), digits) == _comparable(shown, digits), line
                ran += 1
    assert ran or page != "data/README.md"


@pytest.mark.full
def test_the_python_of_its_page_runs(tmp_path):
    """The code blocks run as one program, with golden files under the page's names."""
    golden = ROOT / "tests" / "golden"
    (tmp_path / "a9a.model").symlink_to(golden / "c_svc.model")
    (tmp_path / "a9a.model.approx").symlink_to(golden / "version2" / "c_svc-certified.approx")
    (tmp_path / "a9a.t").symlink_to(golden / "data")
    code = blocks(PAGES["fastsvm_cli/PYTHON.md"], "python")
    shapes = "assert values.shape == proven.shape == (len(truth), 1)"
    (tmp_path / "program.py").write_text("\n".join(line for block in [*code, [shapes]] for line in block) + "\n")
    done = outcome([sys.executable, "program.py"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_names_and_versions_are_told():
    page = PAGES["fastsvm_cli/PYTHON.md"]
    assert not [name for name in fastsvm_cli.__all__ if not re.search(rf"\b{name}\b", page)]
    for script in ("./scripts/quickstart.sh", "./scripts/test.sh"):
        assert f"\n{script}\n" in FRONT and os.access(ROOT / script, os.X_OK)
        subprocess.run(["bash", "-n", ROOT / script], check=True)
    version = fastsvm_cli.__version__
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'"{version}"' in (ROOT / "scripts/packaging/meta.yaml").read_text()


def test_every_file_of_a_folder_is_in_its_readme():
    for folder in ("scripts", "data"):
        page = PAGES[f"{folder}/README.md"]
        files = {path.name for path in (ROOT / folder).iterdir() if path.is_file()} - {"README.md"}
        told = set(re.findall(r"`([\w.]+)`", sections(page, 2)["The scripts"] if folder == "scripts" else page))
        assert files <= told and not {name for name in told - files if name.endswith((".py", ".sh"))}


def test_the_rows_of_the_data_are_as_many_as_its_readme_says():
    reported = {}
    for files, counts in re.findall(r"^\| (`.*?`) +\| ([\d, ]+?) +\|", PAGES["data/README.md"], re.M):
        reported |= dict(zip(re.findall(r"`(.*?)`", files), counts.split(", "), strict=True))
    files = [path for path in DATA.iterdir() if path.suffix != ".md"]
    assert reported == {path.name: f"{len(path.read_text().splitlines()):,}" for path in files}


def test_the_data_sets_are_what_their_script_makes(tmp_path):
    """The data are the same byte for byte on any machine."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPTS / "make_data.py", tmp_path / "scripts")
    subprocess.run([sys.executable, tmp_path / "scripts" / "make_data.py"], check=True)
    made = {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()}
    assert made == {path.name: path.read_bytes() for path in DATA.iterdir() if path.name in made} and len(made) == 5


def test_limits_that_act_without_being_asked_for_are_told():
    features = samples.CLOUD_CELLS // samples.CLOUD_ROWS
    iterations = signature(placement.kernel_means).parameters["iterations"].default
    cost = re.search(r"-t 0 -c (\d+)", getsource(order)).group(1)
    limits = {
        ("order", "points"): [orders.MOST_POINTS],
        ("order", "fold"): [f"C = {cost}"],
        ("order", "lists"): [f"k-means, {feature_space.ROUNDS} rounds"],
        ("reduce", "init"): [f"{iterations} rounds", placement.CLUSTERED],
        ("border", "data_file"): [samples.HELD_OUT, samples.CLOUD_ROWS, f"{features} features"],
        ("border", "sampling"): [samples.NEAREST_ROWS],
        ("border", "target"): [samples.MOST_SAMPLES],
    }
    untold = []
    for (name, parameter), found in limits.items():
        (option,) = [each for each in group.get_command(CONTEXT, name).params if each.name.startswith(parameter)]
        for words in (f"{each:,}" if isinstance(each, int) else each for each in found):
            if not re.search(rf"(?<![\d,]){words}(?![\d,]\d)", option_words(option)[1]):
                untold.append((name, parameter, words))
    assert not untold
