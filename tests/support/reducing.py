"""Helpers for tests of reduced sets."""

import numpy as np

from fastsvm_cli.methods.reduce.reduction import compile_reduced_set
from fastsvm_cli.models import parse_model
from support import oracles
from support.checksums import fingerprint, line_with_checksum
from support.evaluation import parse
from support.in_process import written_lines
from support.oracles import EXTENDED, Machine, random_machine

TYPES = [("c_svc", 2), ("c_svc", 4), ("nu_svc", 3), ("one_class", 2), ("epsilon_svr", 2), ("nu_svr", 2)]
INITS, OPTIMIZERS = ("greedy", "random", "alpha", "cluster"), ("none", "irprop", "fixed-point")


def exact_model(machine):
    return parse_model(machine.text(), "a.model")


def reduce(machine, count, **options):
    return compile_reduced_set(exact_model(machine), fingerprint=fingerprint(machine.text()), count=count, **options)


def split(text: bytes) -> "tuple[Machine, list[bytes]]":
    """The LIBSVM model in a reduced set's file, and the words of the last line, without the checksum."""
    model, word, line = text.rpartition(b"fastsvm_reduced ")
    assert word and line.endswith(b"\n") and line.count(b"\n") == 1
    assert parse_model(text, "m").to_text() == text == line_with_checksum(text)
    return Machine.read(model), line.split()[:-1]


def machine_of(found) -> Machine:
    return split(found.model.to_text())[0]


def small_and_radius(found) -> "tuple[Machine, np.ndarray]":
    """The LIBSVM model, and the radius of every decision function."""
    small, words = split(found.model.to_text())
    return small, np.array(words[4 : 4 + len(small.pairs)], float)


def shifts(machine, small):
    """|b' - b| of every decision function."""
    return np.abs(np.array(small.rho, EXTENDED) - np.array(machine.rho, EXTENDED))


def lines(model, rows, **options):
    text, run_counts = written_lines(model, [parse(rows)], **options)
    return text.decode().splitlines(), run_counts


def as_rows(x):
    return [{j: float(v) for j, v in enumerate(row, 1)} for row in x]


def some_machine(seed, svm_type="c_svc", classes=2, n=40, d=5, gamma=0.5, probability=False, offset=0.0):
    """Random coefficients; with several classes some are 0, as in trained models."""
    rng = np.random.default_rng(seed)
    vectors = as_rows(offset + rng.standard_normal((n, d)))
    machine = random_machine(rng, svm_type, "rbf", vectors, nr_class=classes, gamma=gamma, probability=probability)
    machine.label = [3, -4, 1, 7][:classes] if machine.classification else []
    if classes > 2:
        machine.coef[rng.random(machine.coef.shape) < 0.2] = 0
    return machine


def members(machine, pair):
    """Vectors of a decision function."""
    if not machine.classification:
        return np.ones(len(machine.vectors), bool)
    return np.isin(np.repeat(np.arange(machine.nr_class), machine.nr_sv), machine.pairs[pair])


class Dense:
    """|Psi|^2 and |Psi - Psi'|^2, (pairs) each; K of the vectors z and x, coefficients a and beta."""

    def __init__(self, machine: Machine, small: Machine):
        self.a, self.beta = machine.pair_coefficients.astype(EXTENDED), small.pair_coefficients.astype(EXTENDED)
        self.kzz, self.kzx = oracles.kernel_values(small, small.vectors), oracles.kernel_values(machine, small.vectors)
        self.b = self.a @ self.kzx.T  # <Psi, phi(z)>: (pairs, L)
        self.norm = ((self.a @ oracles.kernel_values(machine, machine.vectors)) * self.a).sum(axis=1)
        self.distance = (
            self.norm - 2 * (self.beta * self.b).sum(axis=1) + ((self.beta @ self.kzz) * self.beta).sum(axis=1)
        )

    @property
    def share(self):
        return float(self.distance.sum() / self.norm.sum())
