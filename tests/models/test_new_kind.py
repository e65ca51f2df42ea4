"""A new kind of model, added as fastsvm_cli/README.md says: a class and a line in MODEL_TYPES. Every command takes it,
or refuses it in one line."""

import ast
import contextlib
import io
import json
import re
from array import array
from importlib import import_module

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

from fastsvm_cli import _native
from fastsvm_cli.models import MODEL_TYPES, load_model
from fastsvm_cli.models.base import Model
from fastsvm_cli.models.carried import Carried
from fastsvm_cli.models.wanted import LABELS
from fastsvm_cli.text.body import read_compiled
from fastsvm_cli.text.fingerprint import fingerprint
from fastsvm_cli.text.scaling import parse_scaling
from support.places import DATA, ROOT

pytestmark = pytest.mark.usefixtures("serial_libsvm")
ROWS = 60


class LinearModel(Model):
    """w . z - rho. weights: (pairs, d) numbers, flat, of the features 1 to d. slack: values are within slack (1 +
    |value|) of the exact model's; 0 if unknown."""

    kind = "linear"

    def __init__(self, header, *, fingerprint, features, weights, slack):
        self.header, self.fingerprint, self.d, self.weights = header, fingerprint, features, weights
        self.features = range(1, features + 1)
        self.slack, self.certified = slack, slack > 0

    def decision_values(self, chunk, out, wanted=LABELS):
        out.resize(chunk.rows)
        weights = np.asarray(self.weights).reshape(self.pairs, self.d)
        values = dense(chunk, self.d) @ weights.T - self.header.rho
        np.asarray(out.value)[:] = values
        if out.radius is not None:
            np.asarray(out.radius)[:] = self.slack * (1 + np.abs(values))

    @classmethod
    def parse(cls, text, path):
        header, own, body = read_compiled(text, path, end="weights", keys=("fingerprint", "features", "slack"))
        features = own.whole("features", 0)
        weights = body.numbers(header.pairs * features)
        body.end(after="the weights")
        return cls(
            header, fingerprint=own.word("fingerprint"), features=features, weights=weights, slack=own.real("slack")
        )

    def to_text(self):
        own = f"fingerprint {self.fingerprint}\nfeatures {self.d}\nslack {self.slack}\nweights\n"
        weights = np.asarray(self.weights).reshape(self.pairs, self.d)
        lines = [_native.format_numbers(array("d", row)) for row in weights]
        return self.sealed([f"{self.header.lines()}{own}".encode(), *lines])


def dense(chunk, features):
    """(rows, features)"""
    starts, indices, values = map(np.asarray, (chunk.indptr, chunk.indices, chunk.values))
    rows, known = np.repeat(np.arange(chunk.rows), np.diff(starts)), (indices >= 1) & (indices <= features)
    out = np.zeros((chunk.rows, features))
    out[rows[known], indices[known] - 1] = values[known]
    return out


def compiled(exact_file, slack):
    """Decision functions of the exact model if its kernel is linear, else others."""
    exact = load_model(str(exact_file))
    features = max(_native.used_indices(exact.vectors))
    x, a, header = dense(exact.vectors, features), np.asarray(exact.vectors.leading), exact.header
    first = np.cumsum([0, *(header.nr_sv or [header.total_sv])])
    weights = [x.T @ a[:, 0]] if header.regression else []
    for _, i, j in header.class_pairs if header.classification else ():
        mine, theirs = slice(first[i], first[i + 1]), slice(first[j], first[j + 1])
        weights.append(x[mine].T @ a[mine, j - 1] + x[theirs].T @ a[theirs, i])
    return LinearModel(
        header,
        fingerprint=fingerprint(exact_file.read_bytes()),
        features=features,
        weights=np.concatenate(weights),
        slack=slack,
    )


class Case:
    """A folder with `rows`, `exact` and `linear`, a model of the new kind. expected: its decision values, (rows,
    pairs). certified: whether it has radii, as linear kernels do."""

    def __init__(self, folder, source, options, certified):
        y, x = svm_read_problem(str(DATA / source))
        svm_save_model(str(folder / "exact"), svm_train(y[:300], x[:300], f"-q {options}"))
        text = b"".join((DATA / source).read_bytes().splitlines(keepends=True)[-ROWS:])
        (folder / "rows").write_bytes(text)
        model = compiled(folder / "exact", 1e-9 if certified else 0.0)
        (folder / "linear").write_bytes(model.to_text())
        rows, weights = _native.parse(text)[0], np.asarray(model.weights).reshape(model.pairs, -1)
        self.folder, self.certified, self.header = folder, certified, model.header
        self.expected = dense(rows, model.d) @ weights.T - model.header.rho


CASES = {
    "classes": ("colors.train", "-t 0 -b 1", True),
    "two classes": ("rings.train", "-t 0 -c 10", True),
    "regression": ("waves.train", "-s 3 -t 0", True),
    "classes, rbf": ("colors.train", "-g 0.02 -b 1", False),
    "two classes, rbf": ("rings.train", "-g 0.2 -c 10 -b 1", False),
    "regression, rbf": ("waves.train", "-s 3 -g 0.05 -c 5", False),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    return Case(tmp_path_factory.mktemp("kind"), *CASES[request.param])


@pytest.fixture
def run(case, monkeypatch):
    """Run a command in this process: run("predict", ..., code=0) -> (stdout, stderr)."""
    monkeypatch.setitem(MODEL_TYPES, "fastsvm_model linear", f"{__name__}:LinearModel")
    monkeypatch.chdir(case.folder)

    def command(*words):
        from fastsvm_cli.cli import main

        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), monkeypatch.context() as here:
            here.setattr("sys.argv", ["fastsvm", *map(str, words)])
            with pytest.raises(SystemExit) as stop:
                main()
        return stop.value.code or 0, out.getvalue(), err.getvalue()

    def run(*words, code=0):
        found, out, err = command(*words)
        assert found == code, (words, found, out, err)
        assert "Traceback" not in err
        return out, err

    from fastsvm_cli.benchmarks import child_processes, environment

    in_a_process = child_processes.run

    def run_here(words, timeout=None, environment=None, **watching):
        """Replaces a separate process, which would not know the kind."""
        if words[0] != "fastsvm":
            return in_a_process(words, timeout, environment, **watching)
        code, _, said = command(*words[1:])
        return code, said

    monkeypatch.setattr(environment, "fastsvm_command", lambda: ["fastsvm"])
    monkeypatch.setattr(child_processes, "run", run_here)
    return run


def answers(header, values):
    if header.regression:
        return values[:, 0]
    votes = np.zeros((len(values), header.nr_class))
    for p, i, j in header.class_pairs:
        votes[np.arange(len(values)), np.where(values[:, p] > 0, i, j)] += 1
    return np.array(header.label)[votes.argmax(axis=1)]


def column(path, at=0, skip=0):
    return [float(line.split()[at]) for line in path.read_text().splitlines()[skip:]]


def exact_answers(run, case):
    run("predict", "-q", "rows", "exact", "out")
    return column(case.folder / "out")


@pytest.mark.full(few=4)
def test_predict(run, case):
    expected = answers(case.header, case.expected)
    out, _ = run("predict", "rows", "linear", "out")
    np.testing.assert_allclose(column(case.folder / "out"), expected, rtol=1e-9)
    assert ("Mean squared error" if case.header.regression else "Accuracy") in out
    run("predict", "-q", "--values", "rows", "linear", "out")
    words = np.array([line.split()[1:] for line in (case.folder / "out").read_text().splitlines()], float)
    np.testing.assert_allclose(words[:, : case.header.pairs], case.expected, rtol=1e-9, atol=1e-12)
    assert words.shape[1] == case.header.pairs * (1 + case.certified)  # radii follow values
    assert json.loads(run("predict", "--json", "rows", "linear", "out")[0])["rows"] == ROWS
    run("predict", "-q", "--on-bad-row", "nan", "--resume", "rows", "linear", "out")
    np.testing.assert_allclose(column(case.folder / "out"), expected, rtol=1e-9)


def test_predict_with_probabilities(run, case):
    if not case.header.has_probability:
        assert "no probability estimates" in run("predict", "-b", 1, "rows", "linear", "out", code=1)[1]
        return
    run("predict", "-q", "-b", 1, "rows", "linear", "out")
    lines = (case.folder / "out").read_text().splitlines()
    assert lines[0].split() == ["labels", *map(str, case.header.label)] and len(lines) == 1 + ROWS
    probabilities = np.array([line.split()[1:] for line in lines[1:]], float)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-5)


def test_predict_exact(run, case):
    tolerance = ("--tolerance", 1e-6) if case.header.regression else ()
    words = ("predict", "--json", "--exact", "exact", *tolerance, "rows", "linear", "out")
    if not case.certified:
        assert "linear: the model has no certificates" in run(*words, code=1)[1]
        return
    expected = exact_answers(run, case)
    summary = json.loads(run(*words)[0])
    np.testing.assert_allclose(column(case.folder / "out"), expected, atol=2e-6 * case.header.regression)
    assert summary["rows_proven"] + summary["rows_evaluated"] == ROWS and summary["rows_proven"] > 0.9 * ROWS
    run("predict", "-q", "--open-rows", "open", *tolerance, "rows", "linear", "out")
    assert len((case.folder / "open").read_text().splitlines()) == summary["rows_evaluated"]


def test_it_carries_a_range(run, case):
    """The raw rows have doubled numbers, which the range scales back."""
    model = load_model("linear")
    ranges = "x\n-1 1\n" + "".join(f"{index} -2 2\n" for index in range(1, 100))
    model.carried = Carried(parse_scaling(ranges.encode(), "range"), "carrying")
    (case.folder / "carrying").write_bytes(model.to_text())
    rows = [line.split() for line in (case.folder / "rows").read_text().splitlines()]
    doubled = [[words[0], *(f"{i}:{2 * float(v)!r}" for i, v in (p.split(":") for p in words[1:]))] for words in rows]
    (case.folder / "raw").write_text("".join(" ".join(words) + "\n" for words in doubled))
    (case.folder / "range").write_text(ranges)
    run("predict", "-q", "--values", "--scale", "range", "raw", "linear", "theirs")
    run("predict", "-q", "--values", "raw", "carrying", "ours")
    assert (case.folder / "ours").read_text() == (case.folder / "theirs").read_text()


def test_what_the_kind_cannot_do_is_said(run):
    for words, code, why in (
        (["--outside-rows", "outside"], 1, "the model has no bound (eq. 3.11)"),
        (["--steps", 3], 2, "--steps goes with a model of fastsvm order --method geometry, which linear is not"),
        (["--evaluations"], 2, "--evaluations goes with a model of fastsvm order, which linear is not"),
    ):
        assert why in run("predict", *words, "rows", "linear", "out", code=code)[1]
    for command in (["approx"], ["reduce", "--ratio", 0.1], ["border"], ["order"]):
        why = "Error: linear: a compiled model found, expected the LIBSVM model it was made from\n"
        assert run(*command, "linear", "out", code=1)[1] == why
    assert (
        "linear: a compiled model found, expected the LIBSVM model first"
        in run("bench", "rows", "linear", "exact", code=1)[1]
    )


def test_bound(run, case):
    if not case.certified:
        assert "bound    none: this kind of model has no expansion" in run("bound", "-q", "linear")[0]
        for words in (["rows", "linear"], ["--json", "rows", "exact", "linear"]):
            why = "Error: linear: a linear model found, which has no expansion to bound: name the exact model\n"
            assert run("bound", "-q", *words, code=1)[1] == why
        return
    assert "compiled, linear" in run("bound", "-q", "linear")[0]
    report = json.loads(run("bound", "-q", "--json", "rows", "linear", "exact")[0])
    assert [model["compiled"] for model in report["models"]] == [True, False]
    mine = report["pairs"][0]
    assert mine["radius_largest"] == pytest.approx((1e-9 * (1 + np.abs(case.expected))).max(), rel=0.01)
    assert case.header.regression or mine["rows_proven"] > 0.9 * ROWS
    assert ("rows proven" in run("bound", "-q", "rows", "linear")[0]) != case.header.regression


@pytest.mark.full(few=2)
def test_bench(run, case):
    """With one model of the kind, then with a second, of another exact model."""
    stranger = load_model("linear")
    stranger.fingerprint = "0" * 32
    (case.folder / "stranger").write_bytes(stranger.to_text())
    differ = sum(a != b for a, b in zip(exact_answers(run, case), answers(case.header, case.expected)))
    table, _ = run("bench", "-q", "--runs", 1, "rows", "exact", "linear")
    assert all(re.search(rf"^ {name} ", table, re.M) for name in ("exact model", "linear")), table
    out, _ = run("bench", "-q", "--json", "--runs", 1, "rows", "exact", "linear", "stranger")
    found = {each["name"]: each for each in json.loads(out)["cases"]}
    for name, note in (("linear", None), ("stranger", "compiled from another model")):
        mine = found[name]
        assert mine["failed"] is None and mine["note"] == note and mine["end_to_end"] and mine["scoring"]
        assert mine["labels_that_differ"] == (None if case.header.regression else differ)
        assert (mine["rows_proven"] is not None) == case.certified
    proven = case.certified and not case.header.regression  # also with --exact, if that proves labels
    assert ("linear, predict --exact" in found) == proven and "stranger, predict --exact" not in found
    if proven:
        assert found["linear, predict --exact"]["labels_that_differ"] == 0


def test_what_predict_wants_of_it(run, case, monkeypatch):
    wanted = []
    decide = LinearModel.decision_values

    def listening(self, chunk, out, what=LABELS):
        wanted.append((what.tolerance, what.sides))
        decide(self, chunk, out, what)

    monkeypatch.setattr(LinearModel, "decision_values", listening)
    run("predict", "-q", "rows", "linear", "out")
    run("predict", "-q", "--values", "rows", "linear", "out")
    assert wanted == [(None, None), (None, [])]
    if case.header.has_probability:
        run("predict", "-q", "-b", 1, "rows", "linear", "out")
        sides = [value for value, _ in wanted[2][1]]
        even = [] if case.header.pairs > 1 else [-case.header.probB[0] / case.header.probA[0]]
        assert sides == pytest.approx(even) and wanted[2][0] is None


# ---- the contract of all kinds


@pytest.mark.parametrize("words", MODEL_TYPES)
def test_every_kind_says_its_name(words):
    module, _, name = MODEL_TYPES[words].partition(":")
    kind = getattr(import_module(module), name)
    assert issubclass(kind, Model)
    assert kind.kind == (words.partition(" ")[2] or "LIBSVM")


@pytest.mark.full
def test_nobody_outside_models_asks_for_a_class():
    """Compilers and commands use their own kinds; all others use Model and ExactModel."""
    for path in (ROOT / "fastsvm_cli").rglob("*.py"):
        room = path.relative_to(ROOT / "fastsvm_cli").parts[0]
        for node in ast.walk(ast.parse(path.read_text())) if room != "models" else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                # Estimators check what a Python program passes.
                kind = ast.unparse(node.args[1])
                known = room == "estimators" and kind in ("Model", "ExactModel")
                assert known or not kind.endswith("Model"), f"{path}:{node.lineno}"
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fastsvm_cli.models"):
                classes = {each.name for each in node.names if each.name.endswith("Model")}
                known = {"Model", "ExactModel"}
                assert room in ("methods", "commands") or classes <= known, f"{path}:{node.lineno}"
