"""Files of ordered models: written, read back, and refused in one line if corrupted."""

import subprocess
import sys

import numpy as np
import pytest

from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
from fastsvm_cli.models.base import Precision
from support.checksums import with_checksum
from support.evaluation import HAND, error_of, parse
from support.messages import model_changes
from support.oracles import OWN_KERNELS, random_machine, random_rows
from support.ordering import COMPILERS, decide, exact_model, lines, order
from support.processes import PATIENCE

OPTIONS = {"geometry": {"folded": [{1: 0.5}, {2: 0.25, 4: -1.0}]}, "triangle": {"lists": 2}}


def made(method):
    return COMPILERS[method](
        parse_model(HAND.encode(), "m"), fingerprint="0123456789abcdef", **OPTIONS[method]
    ).to_text()


def own(method):
    machine = random_machine(
        np.random.default_rng(1), "c_svc", "exponential", [{1: 1.0}, {2: 1.0}, {1: -1.0, 3: 0.5}], gamma=0.5
    )
    return COMPILERS[method](exact_model(machine), fingerprint="0123456789abcdef").to_text()


TEXTS = {**{method: made(method) for method in COMPILERS}, **{f"{method}-own": own(method) for method in COMPILERS}}


def changed(name, old, new):
    """Change a text, with a valid checksum, so that the error itself is reported."""
    assert TEXTS[name].count(old) >= 1, TEXTS[name].decode()
    return with_checksum(TEXTS[name].replace(old, new, 1))


def answers(model, chunk):
    out = _native.Decisions(model.pairs, True)
    left = decide(model, chunk, out)
    full = _native.Decisions(model.pairs)
    model.decision_values(chunk, full, Precision.values())
    return (
        left,
        out.kernel_evaluations,
        np.array(out.value).tolist(),
        np.array(out.radius).tolist(),
        np.array(full.value).tolist(),
    )


# ---- written and read back


WAYS = [
    ("geometry", {}),
    ("geometry", {"sequence": "sgma", "points": 9}),
    ("geometry", {"folded": [{1: 0.5, 2: -1.0}, {3: 1e-7}]}),
    ("geometry", {"folded": [{2000000000: 0.25}]}),
    ("triangle", {}),
    ("triangle", {"lists": 5}),
]


@pytest.mark.full(few=11)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # see test_ordering_warns_of_nothing
@pytest.mark.parametrize(
    "svm_type, classes",
    [("c_svc", 2), ("c_svc", 4), ("nu_svc", 3), ("one_class", 2), ("epsilon_svr", 2), ("nu_svr", 2)],
)
@pytest.mark.parametrize("method, options", WAYS, ids=str)
def test_an_ordered_model_is_written_back_byte_for_byte_and_says_the_same(method, options, svm_type, classes):
    kernels = ["rbf", "exponential"] + (
        ["linear", "polynomial", "normalized_polynomial"] if method == "geometry" else []
    )
    for seed, kernel in enumerate(kernels):
        rng = np.random.default_rng(seed)
        vectors = random_rows(rng, 45, [1, 2, 3, 2000000000], density=0.8)
        parameters = (
            {}
            if kernel == "linear"
            else {"gamma": 0.3}
            if kernel in ("rbf", "exponential")
            else {"gamma": 0.3, "coef0": 1.0, "degree": 3}
        )
        machine = random_machine(rng, svm_type, kernel, vectors, nr_class=classes, probability=True, **parameters)
        model = COMPILERS[method](exact_model(machine), fingerprint="0123abcd", **options)
        text = model.to_text()
        assert text.startswith(
            (
                f"fastsvm_model {method} 2\n"
                f"svm_type {svm_type}\n"
                f"kernel_type {'precomputed' if kernel in OWN_KERNELS else kernel}\n"
            ).encode()
        )
        again = parse_model(text, "again")
        assert (
            again.to_text() == text and again.header.lines() == model.header.lines() and again.fingerprint == "0123abcd"
        )
        kernels = [(k.type, k.gamma, k.coef0, k.degree) for k in (again.exact.kernel, model.exact.kernel)]
        assert kernels[0] == kernels[1] and again.ordered_by == model.ordered_by
        chunk = parse([*random_rows(rng, 30, [1, 2, 3, 9]), *vectors[:5]])
        assert answers(again, chunk) == answers(model, chunk)
        assert again.exact.vectors.values.tolist() == model.exact.vectors.values.tolist()


@pytest.mark.parametrize("name", TEXTS)
def test_hand_made_files_are_read(name):
    model = parse_model(TEXTS[name], "m")
    assert model.to_text() == TEXTS[name]
    assert (b"\nkernel exponential 0.5\n" in TEXTS[name]) == name.endswith("own")


def test_numbers_may_be_broken_into_other_lines():
    text = TEXTS["geometry"]
    assert parse_model(changed("geometry", b"points\n4 5 ", b"points\n4\n5 "), "m").to_text() == text


# ---- corrupted


ERRORS = model_changes("order")


@pytest.mark.parametrize("case", ERRORS)
def test_a_corrupted_file_is_refused_in_one_clear_line(case):
    message, name, (old, new) = ERRORS[case]
    found = error_of(changed(name, old, new))
    assert found == message if message.startswith("m:") else message in found


@pytest.mark.parametrize("method", COMPILERS)
def test_lists_and_orders_that_no_compiler_would_write_give_the_same_labels(method):
    """A file may name any points or pivots, in any order."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        machine = random_machine(rng, "c_svc", "rbf", random_rows(rng, 60, [1, 2, 3]), nr_class=3, gamma=0.7)
        rows = [*random_rows(rng, 20, [1, 2, 3]), *machine.vectors[:3]]
        model = order(machine, method)
        if method == "triangle":
            file = _native.TriangleFile(model.exact.file, "f", pivots=rng.integers(0, 60, 7).tolist())
        else:
            at = rng.permutation(len(model.points))
            file = _native.GeometryFile(
                model.exact.file,
                "f",
                sequence=model.sequence,
                all_vectors=model.all_vectors,
                points=[model.points[i] for i in at],
                b=np.asarray(model.b).reshape(-1, 3)[at].ravel(),
                squared_norm=model.squared_norm,
                b_error=model.b_error,
            )
        assert lines(parse_model(file.to_text(), "m"), rows)[0] == lines(exact_model(machine), rows)[0]


# ---- memory


MEMORY = """
import resource, sys
from importlib import import_module
resource.setrlimit(resource.RLIMIT_DATA, (300 << 20, 300 << 20))
from fastsvm_cli import _native
from fastsvm_cli.models import parse_model
method = sys.argv[1]
_native.set_threads(2)
exact = parse_model(sys.stdin.buffer.read(), "m")
model = getattr(import_module(f"fastsvm_cli.methods.order.{method}"), f"compile_{method}")(exact, fingerprint="f")
model = parse_model(model.to_text(), "o")
out = _native.Decisions(1)
model.decision_values(exact.vectors.select([0, 1, 2]), out)
print("done")
"""


@pytest.mark.full
@pytest.mark.parametrize("method", COMPILERS)
def test_many_features_of_which_few_are_not_zero_take_no_dense_memory(method):
    """800 support vectors of 200 entries each in separate columns: 2 MB sparse, 1 GB dense."""
    rng = np.random.default_rng(3)
    rows = [{200 * r + i: float(v) for i, v in enumerate(np.round(rng.random(200), 2), 1)} for r in range(800)]
    machine = random_machine(rng, "one_class", "rbf", rows, gamma=0.01)
    done = subprocess.run(
        [sys.executable, "-I", "-c", MEMORY, method],
        input=machine.text(),
        capture_output=True,
        timeout=PATIENCE,
        env={"OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.stdout == b"done\n", done.stderr.decode()[-600:]
