"""Kernels that LIBSVM takes as precomputed, from the rows to the labels."""

import io
import re
import runpy
import sys
from contextlib import redirect_stdout

import numpy as np
import pytest
from libsvm.svmutil import svm_read_problem, svm_save_model, svm_train

import fastsvm_cli
from support import oracles
from support.paths import DATA, SCRIPTS
from support.processes import outcome

KERNELS = {
    "exponential": {"gamma": 0.4},
    "normalized-polynomial": {"gamma": 0.3, "coef0": 1.5, "degree": 2},
}
SCRIPT = str(SCRIPTS / "precompute_kernel.py")


def options(kernel):
    return ["--kernel", kernel, *(word for key, value in KERNELS[kernel].items() for word in (f"--{key}", value))]


def precompute(*arguments):
    """The kernel file that the script writes."""
    before, out = sys.argv, io.StringIO()
    sys.argv = [SCRIPT, *map(str, arguments)]
    try:
        with redirect_stdout(out):
            runpy.run_path(SCRIPT, run_name="__main__")
    finally:
        sys.argv = before
    return out.getvalue()


def head(data_file, count, to):
    to.write_text("".join((DATA / data_file).read_text().splitlines(keepends=True)[:count]))


@pytest.fixture(scope="module")
def kernel_files(tmp_path_factory):
    """kernel -> folder with train, test, train.kernel, test.kernel, kernel.model, of four classes"""
    folders = {}
    for kernel in KERNELS:
        folder = folders[kernel] = tmp_path_factory.mktemp(kernel)
        head("colors.train", 80, folder / "train")
        head("colors.test", 60, folder / "test")
        for name, more in (("train", []), ("test", ["--against", folder / "train"])):
            (folder / f"{name}.kernel").write_text(precompute(*options(kernel), *more, folder / name))
        model = svm_train(*svm_read_problem(str(folder / "train.kernel")), "-q -t 4 -c 5")
        svm_save_model(str(folder / "kernel.model"), model)
    return folders


def numbers(text):
    return np.array([line.split() for line in text.splitlines()], float)


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "kernel, method",
    [("exponential", "triangle"), ("exponential", "geometry"), ("normalized-polynomial", "geometry")],
)
def test_the_whole_path_of_a_kernel_that_libsvm_does_not_know(
    svm_predict, fastsvm, kernel_files, tmp_path, kernel, method
):
    """The ordered model takes plain rows; its header still says `precomputed`."""
    folder = kernel_files[kernel]
    theirs = outcome([svm_predict, "test.kernel", "kernel.model", str(tmp_path / "theirs")], cwd=folder, check=True)
    given = [*options(kernel), "--vectors", folder / "train", folder / "kernel.model"]
    done = fastsvm("order", "--method", method, *given)
    assert "not where training puts them" not in done.err
    ours = fastsvm("predict", folder / "test", "kernel.model.order", "ours")
    expected = (tmp_path / "theirs").read_text()
    assert (tmp_path / "ours").read_text() == expected and len(set(expected.split())) > 2
    assert ours.out == theirs.stdout
    values = fastsvm("predict", "-q", "--values", folder / "test", "kernel.model.order").out
    kernel_values = fastsvm("predict", "-q", "--values", folder / "test.kernel", folder / "kernel.model").out
    np.testing.assert_allclose(numbers(values), numbers(kernel_values), atol=1e-9)


def test_python_orders_such_a_kernel_too_of_rows_that_it_scales(kernel_files, tmp_path):
    folder = kernel_files["exponential"]
    twice = re.sub(r":(\S+)", lambda value: f":{2 * float(value[1])!r}", (folder / "train").read_text())
    (tmp_path / "train").write_text(twice)
    (tmp_path / "range").write_text("x\n-1 1\n" + "".join(f"{index} -2 2\n" for index in range(1, 61)))
    given = {"kernel": "exponential", "gamma": 0.4, "on_progress": False}
    model, rows = folder / "kernel.model", np.random.default_rng(0).random((50, 60))
    plain = fastsvm_cli.compile(model, "triangle", vectors=folder / "train", **given)
    scaled = fastsvm_cli.compile(model, "triangle", vectors=tmp_path / "train", scale=tmp_path / "range", **given)
    np.testing.assert_allclose(scaled.decision_function(rows), plain.decision_function(rows), atol=1e-4)


# ---- the script


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_file_holds_every_number_in_full(kernel_files, kernel):
    folder = kernel_files[kernel]
    (_, train), (labels, test) = (svm_read_problem(str(folder / name)) for name in ("train", "test"))
    machine = oracles.Machine("one_class", kernel.replace("-", "_"), [], np.zeros((0, 1)), [0.0], **KERNELS[kernel])
    found_labels, found = svm_read_problem(str(folder / "test.kernel"))
    assert found_labels == labels
    for serial, (line, row) in enumerate(zip(found[:20], test), 1):
        expected = {at: oracles.libsvm_kernel(machine, row, x) for at, x in enumerate(train, 1)}
        assert line == {0: serial, **expected}


def test_a_kernel_file_keeps_the_labels_and_the_script_says_what_is_wrong(tmp_path):
    labels = ["1234567", "-1000000", "0.123456789012", "1e-7", "-0.5", "12345.678"]
    (tmp_path / "data").write_text("".join(f"{label} 1:{at}\n" for at, label in enumerate(labels, 1)))
    lines = precompute("--gamma", 1, tmp_path / "data").splitlines()
    assert [float(line.split()[0]) for line in lines] == [float(label) for label in labels]
    (tmp_path / "bad").write_text("1 1:x\n")
    done = outcome([sys.executable, SCRIPT, "--gamma", "1", "bad"], cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1
    assert done.stderr.startswith("Error: bad:1: '1:x' found")
    with pytest.raises(SystemExit, match="nowhere"):
        precompute("--gamma", 1, "nowhere")


# ---- --vectors


def test_libsvm_counts_rows_from_1(fastsvm, kernel_files, tmp_path):
    zero = "svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 0:0\n"
    (tmp_path / "zero").write_text(zero)
    vectors = kernel_files["exponential"] / "train"
    assert "serial number 0" in fastsvm("order", *options("exponential"), "--vectors", vectors, "zero", code=1).err


@pytest.mark.parametrize("gamma", [4, 0.04])
def test_another_gamma_is_warned_of(fastsvm, kernel_files, gamma):
    folder = kernel_files["exponential"]
    given = ["--kernel", "exponential", "--gamma", gamma, "--vectors", folder / "train", folder / "kernel.model", "o"]
    done = fastsvm("order", *given)
    assert re.match(r"Warning: .* support vectors of \S+ are not where training puts them", done.err), str(done)
    assert fastsvm("order", "-q", *given).err == ""


def test_vectors_of_many_chunks_stand_behind_their_serial_numbers(fastsvm, kernel_files, tmp_path):
    """The same rows beyond the first two megabytes of a file; and a pipe."""
    folder = kernel_files["exponential"]
    train, model = (folder / "train").read_text(), (folder / "kernel.model").read_text()
    padding = "1 " + " ".join(f"{i}:0" for i in range(1, 20000)) + "\n"
    (tmp_path / "long").write_text(padding * 20 + train)
    (tmp_path / "moved").write_text(re.sub(r" 0:(\d+)", lambda match: f" 0:{int(match[1]) + 20}", model))

    def made(vectors, model, **more):
        return fastsvm("order", "-q", *options("exponential"), "--vectors", vectors, model, "-", **more).out

    one, other = made(folder / "train", folder / "kernel.model"), made("long", "moved")
    assert re.sub(r"(fingerprint|checksum) \w+", "", one) == re.sub(r"(fingerprint|checksum) \w+", "", other)
    assert made("-", folder / "kernel.model", input=train.encode()) == one
