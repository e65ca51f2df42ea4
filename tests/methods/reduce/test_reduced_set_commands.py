"""fastsvm reduce: what it prints. messages.txt has what it refuses."""

import re

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models import parse_model
from support.bordering import two_sided
from support.in_process import Libsvm
from support.oracles import Machine, data_text, random_rows
from support.paths import DATA
from support.reducing import INITS, Dense, exact_model, reduce, shifts, some_machine, split
from support.training import train


@pytest.fixture
def files(tmp_path):
    """Write a model m of 40 vectors and rows with its labels, of which 10 are wrong; return machine and rows."""

    def write(svm_type="c_svc", classes=2):
        machine = some_machine(4, svm_type, classes, gamma=1.0, probability=True)
        (tmp_path / "m").write_bytes(machine.text())
        rows = random_rows(np.random.default_rng(4), 200, [1, 2, 3, 4, 5])
        labels = Libsvm(tmp_path / "m").labels(rows)
        wrong = [machine.label[0] if machine.label else 0.5] * 10
        (tmp_path / "rows").write_bytes(data_text(rows, [*labels[:-10], *wrong]))
        return machine, rows

    return write


# ---- the command


@pytest.mark.full(few=1)
@pytest.mark.parametrize("svm_type, classes", [("epsilon_svr", 2), ("c_svc", 2), ("c_svc", 4)])
def test_the_summary_is_what_a_dense_computation_says(fastsvm, tmp_path, files, svm_type, classes):
    machine, rows = files(svm_type, classes)
    done = fastsvm("reduce", "--vectors", 16, "--data", "rows", "m")
    small, _ = split((tmp_path / "m.reduced").read_bytes())
    dense, printed = Dense(machine, small), done.out.splitlines()
    assert printed[0] == "40 support vectors -> 16 vectors" and len(small.vectors) == 16
    assert re.fullmatch(r"[\d.]+ KB -> [\d.]+ (KB|bytes): m.reduced", printed[1])
    distance, radius = re.fullmatch(r"squared distance (\S+) of \|Psi\|\^2, radius (\S+)", printed[2]).groups()
    assert float(distance) == pytest.approx(dense.share, rel=0.006)
    true = np.sqrt(np.maximum(0, dense.distance)) + shifts(machine, small)
    assert float(radius) == pytest.approx(float(true.max()), rel=0.006)
    a, b = (np.array(Libsvm(tmp_path / name).labels(rows)) for name in ("m", "m.reduced"))
    if machine.classification:
        y, _ = svm_read_problem(str(tmp_path / "rows"))
        assert printed[3].startswith(f"labels that differ on rows: {np.sum(a != b)} of 200 (") and np.any(a != b)
        right = re.findall(r"\((\d+)/200\)", printed[4])
        assert list(map(int, right)) == [np.sum(each == y) for each in (b, a)]
    else:
        off = re.match(r"root mean square difference on rows: (\S+) \(\S+ % of the spread of the values\)", printed[3])
        assert float(off[1]) == pytest.approx(np.sqrt(np.mean((a - b) ** 2)), rel=0.006)
    assert done.err.startswith("Warning: ") and done.err.count("\n") == 1


def test_standard_output_standard_input_and_the_default_name(fastsvm, tmp_path, files):
    files()
    done = fastsvm("reduce", "--ratio", 0.25, "--no-finish", "m")
    text = (tmp_path / "m.reduced").read_text()
    assert done.out.startswith("40 support vectors -> 10 vectors\n")
    piped = fastsvm("reduce", "--vectors", 10, "--no-finish", "-", input=(tmp_path / "m").read_bytes())
    assert piped.out == text and piped.err == done.out.replace(": m.reduced", ": standard output") + done.err
    quiet = fastsvm("reduce", "-q", "--vectors", 10, "--no-finish", "m", "-")
    assert quiet.out == text and quiet.err == ""
    whole = fastsvm("reduce", "--vectors", 100000, "m", "out")
    assert "40 support vectors -> 40 vectors" in whole.out and "squared distance 0 of |Psi|^2" in whole.out
    assert split((tmp_path / "out").read_bytes())[0].vectors == Machine.read((tmp_path / "m").read_bytes()).vectors


@pytest.mark.full
def test_fixed_point_iteration_that_stalls_gives_fewer_vectors_and_says_so(fastsvm, tmp_path, trained):
    """iRprop+ reaches the number."""
    options = ["--vectors", 40, "--init", "random", "--no-finish"]
    done = fastsvm("reduce", *options, "--optimizer", "fixed-point", trained["waves"][0], "stalled")
    count = int(re.search(r"-> (\d+) vectors", done.out)[1])
    assert 1 <= count < 40 and len(split((tmp_path / "stalled").read_bytes())[0].vectors) == count
    assert f"there are {40 - count} vectors fewer than wanted; --optimizer irprop" in done.err
    done = fastsvm("reduce", *options, "--optimizer", "irprop", trained["waves"][0], "placed")
    assert "-> 40 vectors" in done.out and "rest" not in done.err


@pytest.mark.full
def test_fixed_point_iteration_that_places_no_vector_is_an_error(tmp_path):
    """Two rings whose coefficients nearly cancel."""
    y, x = svm_read_problem(str(DATA / "rings.train"))
    machine = Machine.read(train(tmp_path / "m", x[:120], y[:120], "-g 0.5 -c 10").read_bytes())
    for init in INITS:
        for finishing in (False, True):
            with pytest.raises(ModelFormatError, match=r"came to no rest .* --optimizer irprop reaches any number"):
                reduce(machine, 3, init=init, optimizer="fixed-point", finishing=finishing)
        assert reduce(machine, 3, init=init, optimizer="irprop").model.header.total_sv == 3


# ---- without loss


def test_duplicates_and_vectors_that_cancel_are_merged_without_loss(fastsvm, tmp_path):
    machine = some_machine(5, n=30)
    machine.vectors[20:] = machine.vectors[:10]
    (tmp_path / "m").write_bytes(machine.text())
    done = fastsvm("reduce", "--lossless", "m")
    first = "30 support vectors, 10 of them equal to others or of coefficient 0 -> 20 vectors"
    assert done.out.splitlines()[0] == first and len(split((tmp_path / "m.reduced").read_bytes())[0].vectors) == 20
    assert "labels that differ on the support vectors: 0 of" in done.out and "squared distance" not in done.out
    (tmp_path / "m").write_bytes(two_sided([{1: 1.0}] * 2, 2.0, 0.5).text())
    assert "-> 0 vectors\n" in fastsvm("reduce", "--lossless", "m", "small").out
    assert Libsvm(tmp_path / "small").labels([{1: 1.0}, {2: 1.0}]) == [-1, -1]
    fastsvm("reduce", "--vectors", 1, "m", "small")


# ---- used as any LIBSVM model


@pytest.mark.full
def test_a_reduced_set_is_compiled_ordered_and_reduced_like_any_libsvm_model(fastsvm, tmp_path, files):
    machine, _ = files()
    (tmp_path / "small").write_bytes(reduce(machine, 20).model.to_text())
    fastsvm("reduce", "-q", "--vectors", 10, "small", "again")
    again, small = (parse_model((tmp_path / name).read_bytes(), name) for name in ("again", "small"))
    assert again.fingerprint not in (small.fingerprint, None) and small.fingerprint != exact_model(machine).fingerprint
    fastsvm("approx", "-q", "small", "approx")
    fastsvm("order", "-q", "--method", "triangle", "small", "order")
    assert fastsvm("predict", "-q", "rows", "order").out == fastsvm("predict", "-q", "rows", "small").out
    assert "rows proven" in fastsvm("bound", "rows", "small").out
