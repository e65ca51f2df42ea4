"""Scaling that becomes part of a model: svm-scale's ranges, R's centers and scales.

given      a compiled model of scaled rows S x + t, S = diag(slopes), t the offsets (text.scaling.Affine); labels may
           have been scaled, too
wanted     a model of raw rows x with the same decision functions, to rounding; of labels that were scaled, with the
           values of raw ones
method     every kind of model here is made of differences from points and of squared distances: S x + t - m =
           S x - (m - t). So rows are multiplied by the slopes (models/folded.py), which leaves 0 where it is, and every
           point moves by the offsets. A feature that is 0 in every support vector is one of the model's columns
           nevertheless where its offset is not 0, because the distances have it.
           What a LIBSVM model can hold is in exact_folding.py.
"""

from array import array
from math import isfinite
from typing import TYPE_CHECKING, NoReturn

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.models.centers import Center
from fastsvm_cli.models.folded import Folded
from fastsvm_cli.models.maclaurin import Expansion, MaclaurinModel
from fastsvm_cli.text.header import Header
from fastsvm_cli.text.scaling import Affine, Scaling

if TYPE_CHECKING:
    from fastsvm_cli.models.border import BorderModel
    from fastsvm_cli.models.density import DensityModel
    from fastsvm_cli.models.exact import ExactModel

# A feature that lies this many times as far from 0 as it spreads leaves fewer digits than svm-scale's six, with room.
_FAR = 1e8


class Folding:
    """What is folded in, once it is known that it can be.

    path: the file of --scale. scaling: of raw rows, to those that the model is about, without svm-scale's rounding.
    affine: what becomes of features. labels: (slope, offset), or None where labels are as they are. digest: of the
    file. Raises ModelFormatError for numbers that leave too few digits."""

    def __init__(self, scaling: Scaling):
        self.path, self.digest, self.scaling = scaling.path, scaling.digest, scaling.unrounded()
        self.affine: Affine = scaling.affine()
        self.labels = scaling.native.label_line()
        for feature, slope, offset in zip(self.affine.features, self.affine.slopes, self.affine.offsets):
            if feature == 0 and offset:
                self._fail("index 0 found, which svm-scale does not move where a row lacks it: use predict --scale")
            if not (isfinite(slope) and slope and abs(offset) <= _FAR):
                why = "lies too far from 0 for its spread"
                if not (isfinite(slope) and slope):
                    why = "has a range that double precision cannot divide by"
                self._fail(f"feature {feature} {why}, to be folded into a model: use predict --scale")
        if self.labels is not None and not (all(map(isfinite, self.labels)) and self.labels[0]):
            self._fail("a range of y found with equal ends, or with ends too far apart: it cannot be undone")

    @property
    def folded(self) -> Folded:
        """What a model has of it that multiplies rows."""
        return Folded(self.digest, list(self.affine.features), list(self.affine.slopes))

    @property
    def moved(self) -> "list[int]":
        """The features whose 0 becomes something else."""
        return [feature for feature, offset in zip(self.affine.features, self.affine.offsets) if offset]

    def check(self, model: "ExactModel | None") -> None:
        """Raises ModelFormatError for a model of scaled rows that it does not go with; None: for classes of rows."""
        if self.labels is not None and not (model and model.header.regression):
            self._fail("a range of y found, and classes, whose labels nothing scales back: expected one without y")
        if model is None:
            return
        if model.header.kernel_type == "precomputed":
            raise ModelFormatError(model.path, "a precomputed kernel found, whose rows hold kernel values: no --scale")
        if model.folded is not None:
            raise ModelFormatError(model.path, "it takes raw rows, because --scale is folded into it: give no --scale")
        known = set(self.affine.features)
        unknown = next((index for index in _native.used_indices(model.vectors) if index not in known), None)
        if unknown is not None:
            why = f"support vectors with feature {unknown} found, which {self.path} does not hold"
            raise ModelFormatError(model.path, f"{why}: expected the file that its training rows were scaled with")

    def coefficients_overflow(self) -> NoReturn:
        """Raise ModelFormatError for coefficients that are too large once y is scaled back."""
        self._fail("a coefficient overflows once y is scaled back: scale the data")

    def _fail(self, why: str) -> NoReturn:
        raise ModelFormatError(self.path, why)

    def header(self, header: Header) -> Header:
        """With values of raw labels."""
        if self.labels is None:
            return header
        slope, offset = self.labels
        rho = [(number + offset) / slope for number in header.rho]
        sigma = None if header.probA is None else [number / slope for number in header.probA]
        return Header(**{**vars(header), "rho": rho, "probA": sigma})


def fold_maclaurin(model: MaclaurinModel, folding: Folding) -> MaclaurinModel:
    """The expansions for raw rows. model: without certificates, and of RBF kernels with all of `folding.moved` among
    its features."""
    offsets = dict(zip(folding.affine.features, folding.affine.offsets))
    centers = [
        Center(
            center.features,
            array("d", (x - offsets.get(feature, 0.0) for feature, x in zip(center.features, center.point))),
            center.largest_norm,
        )
        for center in model.centers
    ]
    return MaclaurinModel(
        folding.header(model.header),
        degree=model.degree,
        features=model.features,
        single=model.single,
        fingerprint=model.fingerprint,
        centers=centers,
        expansions=[_of_raw_labels(each, model, folding) for each in model.expansions],
        longest_vector=model.longest_vector,
        folded=folding.folded,
    )


def _of_raw_labels(expansion: Expansion, model: MaclaurinModel, folding: Folding) -> Expansion:
    if folding.labels is None:
        return expansion
    numbers, slope = array("d", expansion.coefficients), folding.labels[0]
    # Of a compressed M the vectors q stay: the lambda are divided.
    for at in range(1 + len(model.features) + expansion.rank if expansion.rank else len(numbers)):
        numbers[at] /= slope
    stored, finite = _native.stored(numbers, model.single)
    if not finite:
        folding.coefficients_overflow()
    return Expansion(expansion.pair, expansion.center, stored, None, expansion.rank)


def fold_border(model: "BorderModel", folding: Folding) -> "BorderModel":
    """The border samples for raw rows."""
    import numpy as np

    from fastsvm_cli.models.border import BorderModel, Samples

    features = sorted({*model.features, *folding.moved})
    at, d = np.searchsorted(features, model.features), len(features)
    shift = _offsets(features, folding.affine)
    samples = []
    for pair in model.samples:
        rows = np.zeros((pair.count, 2, d))
        rows[:, :, at] = np.asarray(pair.rows).reshape(pair.count, 2, len(model.features))
        rows[:, 0] -= shift
        samples.append(Samples(pair.level, pair.count, rows.ravel()))
    return BorderModel(
        model.header,
        fingerprint=model.fingerprint,
        features=features,
        samples=samples,
        local=model.local,
        single=model.single and not np.any(shift),
        folded=folding.folded,
    )


def fold_density(model: "DensityModel", folding: Folding) -> "DensityModel":
    """The density estimate for raw rows."""
    import numpy as np

    from fastsvm_cli.methods.feature_space import matrix
    from fastsvm_cli.models.density import MOST_CELLS, DensityModel, too_many

    rows = model.rows
    columns = np.union1d(np.unique(np.asarray(rows.indices)), folding.moved).astype(np.int64)
    if rows.rows * len(columns) > MOST_CELLS:
        raise ModelFormatError(folding.path, too_many(rows.rows, len(columns)))
    if folding.moved:
        moved = matrix(rows, columns)[0].toarray() - _offsets(columns.tolist(), folding.affine)
        rows = _native.Chunk.from_dense(rows.leading, moved, columns)
    return DensityModel(
        model.header, fingerprint=model.fingerprint, weight=model.weight, rows=rows, folded=folding.folded
    )


def _offsets(features: "list[int]", affine: Affine):
    """The offset of each of them, 0 where the scaling does not hold it: (d)."""
    import numpy as np

    known = dict(zip(affine.features, affine.offsets))
    return np.array([known.get(feature, 0.0) for feature in features])
