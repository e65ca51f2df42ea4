"""Border samples, and density estimates, which have borders too (Mills)."""

from dataclasses import dataclass

import numpy as np

from support.checksums import with_checksum
from support.oracles.machine import EXTENDED, dense, header_line


@dataclass
class BorderFile:
    """A border model's file. samples: per pair (n, 2, d), point and normal."""

    header: "dict[str, list]"
    features: "list[int]"
    levels: "list[float]"
    local: int
    samples: "list[np.ndarray]"

    @classmethod
    def read(cls, text: bytes) -> "BorderFile":
        head, _, body = text.decode().partition("\nborder\n")
        keys = {line.split()[0]: line.split()[1:] for line in head.splitlines()}
        features = []
        for word in keys["features"]:
            first, _, last = word.partition(":")
            features += range(int(first), int(last or first) + 1)
        numbers, samples = iter(body.splitlines()), []
        for count in keys["nr_border"]:
            lines = [[EXTENDED(float(word)) for word in next(numbers).split()] for _ in range(2 * int(count))]
            samples.append(np.array(lines, EXTENDED).reshape(int(count), 2, len(features)))
        assert [line.split()[0] for line in numbers] in (["end"], ["checksum", "end"])
        return cls(keys, features, [float(word) for word in keys["level"]], int(keys["local"][0]), samples)

    def text(self, head: str, precision="double") -> bytes:
        """head: the header's lines."""
        lines = [
            "fingerprint f",
            " ".join(["features", *map(str, self.features)]),
            f"precision {precision}",
            header_line("nr_border", [len(s) for s in self.samples]),
        ]
        lines += [header_line("level", self.levels), f"local {self.local}", "border"]
        lines += [
            " ".join(repr(float(v)) for v in line) for samples in self.samples for sample in samples for line in sample
        ]
        return with_checksum(
            ("\n".join([f"fastsvm_model border 2\n{head}{lines[0]}", *lines[1:], "end"]) + "\n").encode()
        )

    def points(self, pair: int) -> "list[dict]":
        return [dict(zip(self.features, point.tolist())) for point in self.samples[pair][:, 0].astype(float)]


def border_values(border: BorderFile, rows: "list[dict]") -> "tuple[np.ndarray, np.ndarray]":
    """(rows, pairs): level + n_i.(z - b_i) at the nearest sample i; or its mean over the `local` nearest ones, weighted
    by (1 - s / S)^2, s the squared distances, S that of the next sample (of the farthest, if there is no next).

    Also the smallest gap between the scores of consecutive samples that count, relative to 1 + the largest |score|:
    (rows, pairs)."""
    out, gaps = np.empty((len(rows), len(border.samples)), EXTENDED), np.full((len(rows), len(border.samples)), np.inf)
    for r, row in enumerate(rows):
        z = np.array([row.get(index, 0.0) for index in border.features], EXTENDED)
        beyond = sum(EXTENDED(value) ** 2 for index, value in row.items() if index not in border.features)
        for p, (samples, level) in enumerate(zip(border.samples, border.levels)):
            if not len(samples):
                out[r, p] = level
                continue
            score = (samples[:, 0] ** 2).sum(axis=1) / 2 - samples[:, 0] @ z  # (|z - b|^2 - |z|^2) / 2
            order = np.argsort(score, kind="stable")
            squares = np.maximum(0, (z**2).sum() + beyond + 2 * score[order])
            plane = level + ((z - samples[order, 0]) * samples[order, 1]).sum(axis=1)
            used = min(border.local, len(samples) - 1) if border.local > 1 else 0
            weights = (1 - squares[:used] / squares[used]) ** 2 if used and squares[used] > 0 else np.zeros(0)
            out[r, p] = weights @ plane[:used] / weights.sum() if weights.sum() > 0 else plane[0]
            steps = np.diff(score[order[: used + 2]])
            gaps[r, p] = float(steps.min() / (1 + np.abs(score).max())) if len(steps) else np.inf
    return out, gaps


def density_weights(x: np.ndarray, z: np.ndarray, h) -> np.ndarray:
    return np.exp(-((((x - z) / h) ** 2).sum(axis=1)) / 2)


def density_bandwidth(x: np.ndarray, z: np.ndarray, weight: float):
    """h at which the weights of all rows at z add up to `weight`, by bisection."""
    x, z = x.astype(EXTENDED), z.astype(EXTENDED)
    low, high = EXTENDED(-3000), EXTENDED(3000)  # bounds of log h
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if density_weights(x, z, np.exp(middle)).sum() < weight else (low, middle)
    return np.exp(low)


def density(x: np.ndarray, y: np.ndarray, z: np.ndarray, bandwidth, weight=None) -> EXTENDED:
    """R(z) = sum_i y_i k_i / sum_i k_i. If bandwidth is None, it is solved for the weight."""
    h = density_bandwidth(x, z, weight) if bandwidth is None else EXTENDED(bandwidth)
    k = density_weights(x.astype(EXTENDED), z.astype(EXTENDED), h)
    return (k @ y) / k.sum()


def density_log_odds(rows: "list[dict]", classes: "list[int]", z: dict, weight: float) -> "list[EXTENDED]":
    """log(S_i / S_j) of every pair of classes at z; S_c sums the weights of class c, at the bandwidth at which the
    weights of both classes add up to `weight`. Mills's R is (S_i - S_j) / weight."""
    columns = sorted(set(z).union(*rows))
    x, at, classes = dense(rows, columns), dense([z], columns)[0], np.array(classes)
    out = []
    for i in range(max(classes) + 1):
        for j in range(i + 1, max(classes) + 1):
            h = density_bandwidth(x[(classes == i) | (classes == j)], at, weight)
            of_i, of_j = ((((x[classes == c] - at) / h) ** 2).sum(axis=1) / 2 for c in (i, j))
            out.append(log_sum_exp(-of_i) - log_sum_exp(-of_j))
    return out


def log_sum_exp(exponents: np.ndarray) -> EXTENDED:
    return exponents.max() + np.log(np.exp(exponents - exponents.max()).sum())


def slope(function, z: np.ndarray, step: float) -> np.ndarray:
    """Gradient by central differences."""
    z, out = z.astype(EXTENDED), np.empty(len(z), EXTENDED)
    for j in range(len(z)):
        ahead, behind = z.copy(), z.copy()
        ahead[j], behind[j] = z[j] + step, z[j] - step
        out[j] = (function(ahead) - function(behind)) / (ahead[j] - behind[j])
    return out
