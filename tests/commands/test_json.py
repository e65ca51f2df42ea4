"""--json and exit codes: the commands match the page, key by key."""

import json
import re
import signal

import pytest

import fastsvm_cli
from fastsvm_cli._native import fingerprint
from fastsvm_cli.cli import COMMANDS
from fastsvm_cli.cli import fastsvm as group
from support import forked
from support.compiling import compile_all
from support.messages import cases
from support.pages import PAGES, sections
from support.paths import GOLDEN

PAGE = PAGES["fastsvm_cli/commands/INTERFACE.md"]
CLOCKS = r"^cases\[\]\.scoring\."  # has the same keys as end_to_end
ROWS = "1 1:0.5 2:-0.25 4:1 7:0.125 8:-0.75\n-1 2:0.3 7:-0.6\n" * 30


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("json")
    for name, model in (("m", "c_svc"), ("values", "epsilon_svr")):
        (folder / name).write_bytes((GOLDEN / f"{model}.model").read_bytes())
    (folder / "powers").write_text((folder / "m").read_text().replace("rbf", "polynomial\ndegree 2\ncoef0 1"))
    (folder / "crude").write_text((folder / "m").read_text().replace("rho -0", "rho 90"))
    (folder / "rows").write_text(ROWS), (folder / "bad").write_text(f"{ROWS}x\n")
    compile_all(
        folder,
        "approx --certify m cert",
        "approx m approx",
        "order --method geometry m order",
        "approx values values.approx",
    )
    return folder


def documents(directory, lines):
    for words in lines:
        done = forked.fastsvm(words.split(), cwd=directory, text=True)
        assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done
        yield json.loads(done.stdout)


def keys(value, path=""):
    """Keys of a document: a.b of objects, a[].b of lists of objects."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from keys(each, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for each in value:
            yield from keys(each, f"{path}[]")
    else:
        yield path


RUNS = {command: cases(command) for command in ("predict --json", "bound --json", "bench --json")}


@pytest.mark.full
@pytest.mark.parametrize("command", RUNS)
def test_keys_are_those_of_the_page(directory, command):
    items = re.split(r"^- ", sections(PAGE, 3)[f"`{command}`"], flags=re.M)
    documented = [word for each in items for word in re.findall("`([^`]+)`", re.split(r"(?<=`):\s", each)[0])]
    assert len(documented) == len(set(documented))
    found = {
        re.sub(CLOCKS, "cases[].end_to_end.", key) for each in documents(directory, RUNS[command]) for key in keys(each)
    }
    found |= {"cases[].end_to_end", "cases[].scoring"} & set(documented)  # null, or an object with the other keys
    found -= {"data", "models", "pairs"}  # empty lists of `bound`
    assert sorted(found) == sorted(documented)


def test_every_command_with_json_has_its_table():
    having = {name for name in COMMANDS if any("--json" in each.opts for each in group.get_command(None, name).params)}
    assert having == {command.split()[0] for command in RUNS}


@pytest.mark.full
def test_what_a_run_says_of_itself(directory):
    """predict_file returns the same, except for times."""
    (one,) = documents(directory, ["predict --json --exact m rows cert out"])
    own, source = (fingerprint((directory / name).read_bytes()) for name in ("cert", "m"))
    assert one["fastsvm"] == fastsvm_cli.__version__ and one["model_kind"] == "maclaurin"
    assert (one["model_fingerprint"], one["exact_fingerprint"]) == (own, source)
    assert one["rows_proven"] + one["rows_evaluated"] == one["rows"] == 60
    assert one["rows_per_second"] == pytest.approx(60 / one["seconds"])
    two = fastsvm_cli.predict_file(directory / "rows", directory / "cert", directory / "out", exact=directory / "m")
    assert list(two) == list(one)
    assert {**two, **{key: one[key] for key in ("seconds", "rows_per_second")}} == one
    exact, bound = documents(directory, ["predict --json rows m out", "bound --json rows m"])
    assert exact["rows_proven"] == 60 and exact["model_fingerprint"] == source and "exact_fingerprint" not in exact
    assert (bound["models"][0]["kind"], bound["models"][0]["fingerprint"]) == ("LIBSVM", source)


@pytest.mark.full
def test_a_run_that_goes_on_counts_its_own_rows_by_its_own_seconds(fastsvm, directory):
    words = ["--resume", directory / "bad", directory / "m", "out"]
    fastsvm("predict", *words, code=1)
    reported = json.loads(fastsvm("predict", "--json", "--on-bad-row", "skip", *words).out)
    assert reported["rows"] == 60 and reported["rows_per_second"] == 0


# ---- exit codes


#: Those that a signal causes: console/test_signals.py.
ENDS = dict(cases("exit codes"))


@pytest.mark.full
def test_exit_codes_are_those_of_the_page(directory):
    rows = PAGE.split("## Exit codes\n")[1].strip().split("\n\n")[0].splitlines()[2:]
    signals = [128 + each for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)]
    assert [int(row.split("|")[1]) for row in rows] == [*ENDS, *signals]
    found = {code: forked.fastsvm(words.split(), cwd=directory).returncode for code, words in ENDS.items()}
    assert found == {code: code for code in ENDS}
