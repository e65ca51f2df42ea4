"""Stages of cascades from the text of their files, in extended precision."""

from itertools import combinations, combinations_with_replacement
from math import comb, factorial, prod

import numpy as np

from support.model_files import libsvm_rows

FLOAT = np.longdouble


class Stages:
<<<<<<< HEAD
    """stages: (degree, number of vectors, threshold, weights (pairs, terms) of monomials, then of kernel values)."""
=======
    """stages: (degree, number of vectors, threshold, weights of monomials and of kernel values: (pairs, terms))."""
>>>>>>> b8a45545e773da78bf7d3ca2b85876b48d2507e9

    def __init__(self, model):
        self.model = model
        lines = model.to_text().decode().split("\n")
        keys = {line.split()[0]: line.split()[1:] for line in lines[: lines.index("SV")]}
        self.features, self.longest = [], float(keys["longest"][0])
        for word in keys["features"]:
            first, _, last = word.partition(":")
            self.features += range(int(first), int(last or first) + 1)
        at = lines.index("center")
        chosen = [int(word) for word in lines[at - 1].split()] if keys["nr_chosen"] != ["0"] else []
        self.vectors = libsvm_rows(model.exact.vectors.select(chosen))
        self.center = np.array(lines[at + 1].split(), FLOAT)
        self.stages, at, pairs = [], at + 2, model.pairs
        while lines[at].startswith("stage "):
            degree, count = map(int, lines[at].split()[1:])
            numbers = [np.array(line.split(), FLOAT) for line in lines[at + 1 : at + 2 + pairs * (1 + bool(count))]]
            monomials, kernels = np.array(numbers[1 : 1 + pairs]), np.array(numbers[1 + pairs :]).reshape(pairs, count)
            assert monomials.shape == (pairs, comb(len(self.features) + degree, degree))
            self.stages.append((degree, count, float(numbers[0][0]), np.hstack([monomials, kernels])))
            at += 2 + pairs * (1 + bool(count))

    def values(self, stage, chunk):
        """(rows, pairs)"""
        degree, count, _, weights = self.stages[stage]
        z = libsvm_rows(chunk)
        u = np.array([[FLOAT(row.get(i, 0)) for i in self.features] for row in z], FLOAT) - self.center
        terms = [np.ones(len(z), FLOAT)]
        for k in range(1, degree + 1):
            for columns in combinations_with_replacement(range(len(self.features)), k):
                orders = factorial(k) // prod(factorial(columns.count(each)) for each in set(columns))
                terms.append(orders * np.prod(u[:, columns], axis=1))
        for x in self.vectors[:count]:
            squared = [sum((FLOAT(x.get(i, 0)) - FLOAT(r.get(i, 0))) ** 2 for i in x.keys() | r.keys()) for r in z]
            terms.append(np.exp(-FLOAT(self.model.header.gamma) * np.array(squared, FLOAT)))
        return np.array(terms).T @ weights.T

    def elected(self, stage, chunk):
        """Return each row's winner, who wins all of its pairs, and its least value; -infinity for a row to leave."""
        classes = max(self.model.header.nr_class, 2)
        pairs, values = list(combinations(range(classes), 2)), self.values(stage, chunk)
        least = np.array(
            [
                np.min(
                    [values[:, p] * (1 if pair[0] == c else -1) for p, pair in enumerate(pairs) if c in pair], axis=0
                )
                for c in range(classes)
            ]
        )
        margin = least.max(axis=0)
        left = (margin <= 0) | (np.asarray(chunk.squared_norms) > self.longest)
        return least.argmax(axis=0), np.where(left, -np.inf, margin).astype(float)
