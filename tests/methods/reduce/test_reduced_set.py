"""Reduced sets as LIBSVM models (Suttorp and Igel 2007), against the paper's equations in extended precision."""

import numpy as np
import pytest

from support import oracles
from support.checksums import fingerprint
from support.oracles import EXTENDED
from support.reducing import TYPES, Dense, machine_of, members, reduce, shifts, small_and_radius, some_machine, split

# ---- the output is a LIBSVM model (tests/zoo/test_parity_table.py: LIBSVM gives the same lines)


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_all_but_the_vectors_and_offsets_is_the_exact_models(svm_type, classes):
    machine = some_machine(1, svm_type, classes, probability=True)
    small, words = split(reduce(machine, 10).model.to_text())
    for key in ("svm_type", "kernel", "gamma", "label", "probA", "probB", "marks"):
        assert getattr(small, key) == getattr(machine, key), key
    assert len(small.vectors) == 10 and (not small.nr_sv or sum(small.nr_sv) == 10)
    assert words[:4] == [b"2", fingerprint(machine.text()).encode(), b"40", b"5"]
    assert len(words) == 4 + 2 * len(machine.pairs)


def test_two_classes_share_their_vectors_each_is_listed_with_the_class_it_speaks_for():
    small = machine_of(reduce(some_machine(3), 12))
    assert np.all(small.coef[: small.nr_sv[0], 0] > 0) and np.all(small.coef[small.nr_sv[0] :, 0] <= 0)
    assert min(small.nr_sv) > 0


# ---- coefficients, offset, distance


@pytest.mark.parametrize("svm_type, classes", TYPES)
def test_coefficients_offset_and_radius_are_those_of_the_equations(svm_type, classes):
    """Coefficients solve the equations of each pair over the vectors of both classes. Eq. (9): b' = mean over the
    support vectors with alpha != 0 of Psi(x) + b - Psi'(x); b = -rho. The radius is delta + |b' - b|, rounded up."""
    machine = some_machine(4, svm_type, classes, gamma=1.0)
    machine.rho = [100.0 * (-1) ** p for p in range(len(machine.rho))]  # in neither Psi
    found = reduce(machine, 14, finishing=classes == 2)
    (small, radius), (_, words) = small_and_radius(found), split(found.model.to_text())
    dense = Dense(machine, small)
    psi = oracles.decision_values(machine, machine.vectors) + np.array(machine.rho, EXTENDED)
    approximate = oracles.decision_values(small, machine.vectors) + np.array(small.rho, EXTENDED)
    for p, (rho, changed) in enumerate(zip(machine.rho, small.rho)):
        own = members(small, p)
        expected = np.linalg.solve(dense.kzz[np.ix_(own, own)].astype(float), dense.b[p, own].astype(float))
        near = 1e-7 * np.abs(expected).max()
        np.testing.assert_allclose(dense.beta[p, own].astype(float), expected, rtol=0, atol=near)
        assert not np.any(dense.beta[p, ~own])
        of = machine.pair_coefficients[p] != 0
        assert -changed == pytest.approx(float((psi - rho - approximate)[of, p].mean()), abs=1e-12)
        assert abs(changed - rho) > 1e-9
    assert 0.005 < dense.share < 0.9
    true = np.sqrt(dense.distance) + shifts(machine, small)
    assert np.all(radius >= true) and np.all(radius <= true * (1 + 1e-6))
    weight = np.array(words[4 + len(machine.pairs) :], float)
    np.testing.assert_allclose(weight, np.abs(machine.pair_coefficients).sum(axis=1), rtol=1e-8)


@pytest.mark.parametrize("coefficient", [1e-8, 1.0, 1e100])
def test_the_distance_is_a_share_whatever_the_size_of_the_coefficients(coefficient):
    machine = some_machine(7, n=20)
    machine.coef *= coefficient
    for count in (1, 10, 19):
        found = reduce(machine, count)
        assert 0 <= found.distance <= 1
        assert found.distance == pytest.approx(Dense(machine, machine_of(found)).share, rel=1e-4, abs=1e-9)


def test_the_distance_is_never_negative():
    """One vector replaces twins: rounding is left."""
    for seed in range(10):
        machine = some_machine(seed, "nu_svr", n=2, d=3, gamma=0.1)
        machine.vectors[1] = {i: v + 1e-9 for i, v in machine.vectors[0].items()}
        found = reduce(machine, 1)
        assert found.model.header.total_sv == 1 and 0 <= found.distance < 1e-9


def test_progress_tells_how_the_distance_falls():
    told = []
    reduce(some_machine(5), 8, on_progress=lambda share, text="": told.append((share, text)))
    distances = [float(text.split()[-1]) for _, text in told if "squared distance" in text]
    assert len(distances) > 1 and distances[-1] < distances[0]
