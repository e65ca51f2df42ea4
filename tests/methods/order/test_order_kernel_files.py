"""Kernels that LIBSVM takes as precomputed, from the rows to the labels."""

import re
import sys

import numpy as np
import pytest
from libsvm.svmutil import svm_load_model, svm_read_problem, svm_save_model, svm_train

from support import oracles
from support.ordering import METHODS, SCRIPT, head
from support.processes import outcome

KERNELS = {
    "exponential": (["--gamma", 0.4], {"gamma": 0.4}),
    "normalized-polynomial": (
        ["--gamma", 0.3, "--coef0", 1.5, "--degree", 2],
        {"gamma": 0.3, "coef0": 1.5, "degree": 2},
    ),
}


def precompute(folder, *arguments, code=0):
    done = outcome([sys.executable, str(SCRIPT), *map(str, arguments)], cwd=folder)
    assert done.returncode == code and "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def kernel_files(tmp_path_factory):
    """kernel -> folder with train, test, train.kernel, test.kernel, kernel.model, of four classes"""
    folders = {}
    for kernel, (options, _) in KERNELS.items():
        folder = folders[kernel] = tmp_path_factory.mktemp(kernel)
        head("colors.train", 130, folder / "train")
        head("colors.test", 120, folder / "test")
        (folder / "train.kernel").write_text(precompute(folder, "--kernel", kernel, *options, "train").stdout)
        (folder / "test.kernel").write_text(
            precompute(folder, "--kernel", kernel, *options, "--against", "train", "test").stdout
        )
        svm_save_model(
            str(folder / "kernel.model"), svm_train(*svm_read_problem(str(folder / "train.kernel")), "-q -t 4 -c 5")
        )
    return folders


@pytest.mark.full(few=1)
@pytest.mark.parametrize(
    "kernel, method", [("exponential", method) for method in METHODS] + [("normalized-polynomial", "geometry")]
)
def test_the_whole_path_of_a_kernel_that_libsvm_does_not_know(
    svm_predict, fastsvm, kernel_files, tmp_path, kernel, method
):
    folder = kernel_files[kernel]
    theirs = outcome([svm_predict, "test.kernel", "kernel.model", str(tmp_path / "theirs")], cwd=folder, check=True)
    done = fastsvm(
        "order",
        "--method",
        method,
        "--kernel",
        kernel,
        *KERNELS[kernel][0],
        "--vectors",
        folder / "train",
        folder / "kernel.model",
    )
    assert "not where training puts them" not in done.err
    ours = fastsvm("predict", folder / "test", "kernel.model.order", "ours")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert len(set((tmp_path / "ours").read_text().split())) > 2
    assert ours.out == theirs.stdout
    values = fastsvm("predict", "-q", "--values", folder / "test", "kernel.model.order").out
    kernel_values = fastsvm("predict", "-q", "--values", folder / "test.kernel", folder / "kernel.model").out
    np.testing.assert_allclose(
        *(np.array([line.split() for line in text.splitlines()], float) for text in (values, kernel_values)), atol=1e-9
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_file_holds_every_number_in_full(kernel_files, kernel):
    folder = kernel_files[kernel]
    (_, train), (labels, test) = (svm_read_problem(str(folder / name)) for name in ("train", "test"))
    machine = oracles.Machine("one_class", kernel.replace("-", "_"), [], np.zeros((0, 1)), [0.0], **KERNELS[kernel][1])
    lines = (folder / "test.kernel").read_text().splitlines()
    assert len(lines) == 120
    for serial, (line, label, row) in enumerate(zip(lines[:20], labels, test), 1):
        words = line.split()
        assert float(words[0]) == label and words[1] == f"0:{serial}"
        assert [word.split(":")[0] for word in words[2:]] == [str(at) for at in range(1, 131)]
        assert [float(word.split(":")[1]) for word in words[2:]] == [
            oracles.libsvm_kernel(machine, row, x) for x in train
        ]


def test_a_kernel_file_keeps_the_labels(tmp_path):
    labels = ["1234567", "-1000000", "0.123456789012", "1e-7", "-0.5", "12345.678"]
    (tmp_path / "data").write_text("".join(f"{label} 1:{at}\n" for at, label in enumerate(labels, 1)))
    lines = precompute(tmp_path, "--gamma", 1, "data").stdout.splitlines()
    assert [float(line.split()[0]) for line in lines] == [float(label) for label in labels]


def test_the_kernel_script_says_what_is_wrong_in_one_line(tmp_path):
    (tmp_path / "bad").write_text("1 1:x\n")
    done = precompute(tmp_path, "--gamma", 1, "bad", code=1)
    assert done.stderr == "Error: bad:1: '1:x' found, expected index:value\n" and done.stdout == ""
    assert "nowhere" in precompute(tmp_path, "--gamma", 1, "nowhere", code=1).stderr
    assert "--gamma" in precompute(tmp_path, "nowhere", code=2).stderr


@pytest.mark.full
def test_vectors_that_are_missing_are_one_line(fastsvm, kernel_files, tmp_path):
    folder = kernel_files["exponential"]
    serials = [int(row[0]) for row in svm_load_model(str(folder / "kernel.model")).get_SV()]
    head("colors.train", 20, tmp_path / "short")
    options = ["--kernel", "exponential", "--gamma", 0.4, "--vectors"]
    done = fastsvm("order", *options, "short", folder / "kernel.model", "o", code=1)
    assert (
        done.err == f"Error: short: 20 rows found, expected {max(serials)} or more: a support vector of"
        f" {folder / 'kernel.model'} has that serial number\n"
    )
    assert not (tmp_path / "o").exists()
    (tmp_path / "empty").write_text("")
    assert "0 rows found" in fastsvm("order", *options, "empty", folder / "kernel.model", "o", code=1).err
    (tmp_path / "bad").write_text("1 1:1\n1 x\n")
    assert (
        fastsvm("order", *options, "bad", folder / "kernel.model", "o", code=1).err
        == "Error: bad:2: 'x' found, expected index:value\n"
    )


def test_a_serial_number_of_no_row_is_said_to_be_one(fastsvm, tmp_path):
    """LIBSVM counts rows from 1."""
    (tmp_path / "m").write_text(
        "svm_type one_class\nkernel_type precomputed\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n1 0:0\n"
    )
    (tmp_path / "train").write_text("1 1:1\n")
    done = fastsvm("order", "--kernel", "exponential", "--gamma", 1, "--vectors", "train", "m", code=1)
    assert "expected 0 or more" not in done.err and "serial" in done.err and done.err.count("\n") == 1, str(done)


@pytest.mark.full
@pytest.mark.parametrize("wrong", [["--gamma", 4], ["--gamma", 0.04]], ids=str)
def test_another_gamma_is_warned_of(fastsvm, kernel_files, wrong):
    folder = kernel_files["exponential"]
    arguments = ["--kernel", "exponential", *wrong, "--vectors", folder / "train", folder / "kernel.model", "o"]
    done = fastsvm("order", *arguments)
    assert re.search(
        r"^Warning: with these vectors and this kernel the support vectors of \S+ are not where training puts them",
        done.err,
    ), str(done)
    assert fastsvm("order", "-q", *arguments).err == ""


@pytest.mark.full
def test_vectors_of_many_chunks_stand_behind_their_serial_numbers(svm_predict, fastsvm, tmp_path):
    """The same rows beyond the first two megabytes of a file; and a pipe."""
    head("rings.train", 60, tmp_path / "train")
    padding = "1 " + " ".join(f"{i}:0" for i in range(1, 20000)) + "\n"
    (tmp_path / "long").write_text(padding * 20 + (tmp_path / "train").read_text())
    (tmp_path / "k").write_text(precompute(tmp_path, "--gamma", 0.4, "train").stdout)
    svm_save_model(str(tmp_path / "m"), svm_train(*svm_read_problem(str(tmp_path / "k")), "-q -t 4"))
    text = (tmp_path / "m").read_text()
    (tmp_path / "moved").write_text(re.sub(r" 0:(\d+)", lambda match: f" 0:{int(match[1]) + 20}", text))
    options = ["-q", "--kernel", "exponential", "--gamma", 0.4, "--vectors"]
    fastsvm("order", *options, "train", "m", "o")
    fastsvm("order", *options, "long", "moved", "o2")
    without = [re.sub(r"(fingerprint|checksum) \w+", "", (tmp_path / name).read_text()) for name in ("o", "o2")]
    assert without[0] == without[1]
    fastsvm("order", *options, "-", "m", "o3", input=(tmp_path / "train").read_bytes())
    assert (tmp_path / "o3").read_text() == (tmp_path / "o").read_text()


@pytest.mark.full
def test_rows_of_a_model_with_its_vectors_are_plain_rows(fastsvm, kernel_files, tmp_path):
    """The header still says `precomputed`; rows need no serial numbers and may be dense."""
    folder = kernel_files["exponential"]
    fastsvm(
        *"order -q --kernel exponential --gamma 0.4 --vectors".split(), folder / "train", folder / "kernel.model", "o"
    )
    labels, rows = svm_read_problem(str(folder / "test"))
    last = max(max(row, default=1) for row in rows)
    (tmp_path / "dense").write_text(
        "".join(
            ",".join([f"{label:g}", *(repr(row.get(i, 0.0)) for i in range(1, last + 1))]) + "\n"
            for label, row in zip(labels, rows)
        )
    )
    expected = fastsvm("predict", "-q", folder / "test", "o").out
    assert fastsvm("predict", "-q", "--dense", "dense", "o").out == expected
