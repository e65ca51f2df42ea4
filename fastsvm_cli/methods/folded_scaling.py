"""Scaling of rows, S x + t, folded into a LIBSVM model of raw rows x.

linear               any S and t: <x_i, S x + t> = <S x_i, x> + <x_i, t>; rho takes the second term
polynomial, sigmoid  any S, t = 0
rbf                  one slope for all features (into gamma), and any t (into the support vectors)
"""

from math import isfinite

import numpy as np
import scipy.sparse

from fastsvm_cli import _native
from fastsvm_cli._native import Header
from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.methods.feature_space import FeatureSpace, matrix
from fastsvm_cli.models import ExactModel
from fastsvm_cli.text.scaling import Affine, Scaling

# Offset over spread, to keep more digits than svm-scale's six.
_FAR = 1e8
# Slopes that differ by less are equal up to rounding.
_EQUAL = 1e-13


class ScalingToFold:
    """Scaling to fold, accepted by text.scaling.check_embedding: no offset of index 0, and enough digits.

    path, digest: of its file. scaling: unrounded. labels: (slope, offset), or None.
    """

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

    def _fail(self, why: str) -> None:
        raise ModelFormatError(self.path, why)

    def header(self, header: Header) -> Header:
        """Return a header in the unit of raw labels."""
        if self.labels is None:
            return header
        slope, offset = self.labels
        rho = [(number + offset) / slope for number in header.rho]
        sigma = None if header.probA is None else [number / slope for number in header.probA]
        return header.changed(rho=rho, probA=sigma)


@np.errstate(over="ignore", invalid="ignore")  # overflows are refused
def fold_exact(model: ExactModel, affine: Affine) -> "ExactModel | None":
    """Return the LIBSVM model of raw rows, or None.

    Rows must lack features that `affine` lacks: their squares count.
    """
    s, t = np.asarray(affine.slopes, float), np.asarray(affine.offsets, float)
    if not (np.all(np.isfinite(s)) and np.all(np.isfinite(t))):
        return None
    header, kind, shifted = model.header, model.header.kernel_type, bool(np.any(t))
    columns = np.asarray(affine.features, np.int64)
    x, _ = matrix(model.vectors, columns)
    gamma, rho = header.gamma, header.rho
    if kind == "linear":
        vectors = x.multiply(s).tocsr()
        if shifted:
            rho = (np.array(rho) - FeatureSpace(model).coefficients.T @ (x @ t)).tolist()
    elif kind in ("polynomial", "sigmoid"):
        if shifted:
            return None
        vectors = x.multiply(s).tocsr()
    elif kind == "rbf":
        scale = float(s[0]) if len(s) else 1.0
        if not scale or np.any(np.abs(s - scale) > _EQUAL * abs(scale)):
            return None
        vectors = scipy.sparse.csr_matrix((x.toarray() - t) / scale) if shifted else x / scale
        gamma = gamma * scale * scale
    else:
        return None
    vectors.sort_indices()
    if not (np.all(np.isfinite(vectors.data)) and np.all(np.isfinite(rho)) and np.isfinite(gamma)):
        return None
    own = header.changed(gamma=gamma, rho=rho)
    indices = columns[vectors.indices] if len(columns) else vectors.indices.astype(np.int64)
    chunk = _native.Chunk.from_csr(model.vectors.leading, vectors.indptr.astype(np.int64), indices, vectors.data)
    return ExactModel(_native.LibsvmFile(own, chunk), model.path)


def folded_exact(model: ExactModel, folding: ScalingToFold, instead: str) -> ExactModel:
    """Return the LIBSVM model of raw rows and labels; without one, advise `instead`."""
    found = fold_exact(model, folding.affine)
    if found is None:
        raise ModelFormatError(model.path, f"{_why_none(model, folding)}: {instead}")
    if folding.labels is None:
        return found
    vectors = found.vectors
    with np.errstate(over="ignore"):
        coefficients = np.asarray(vectors.leading) / folding.labels[0]
    if not np.all(np.isfinite(coefficients)):
        raise ModelFormatError(folding.path, "a coefficient overflows once y is scaled back: scale the data")
    chunk = _native.Chunk.from_csr(coefficients, vectors.indptr, vectors.indices, vectors.values)
    return ExactModel(_native.LibsvmFile(folding.header(found.header), chunk), found.path)


def folded_model(model: ExactModel, fingerprint: str, folding: ScalingToFold) -> ExactModel:
    """Return a LIBSVM model, marked as one of raw rows. fingerprint: of the source model's file, or the rows."""
    folded = _native.FoldedScaling(folding.digest)
    file = _native.LibsvmFile(model.header, model.vectors, fingerprint=fingerprint, folded=folded)
    return ExactModel(file, model.path)


def _why_none(model: ExactModel, folding: ScalingToFold) -> str:
    affine, kernel = folding.affine, model.header.kernel_type
    if kernel == "rbf":
        ends = min(affine.slopes), max(affine.slopes)
        if ends[1] - ends[0] > _EQUAL * abs(affine.slopes[0]):
            shown = [f"{end:g}" for end in ends]
            least, most = shown if shown[0] != shown[1] else map(repr, ends)
            of_least, of_most = (affine.features[affine.slopes.index(end)] for end in ends)
            return (
                f"{folding.path} scales feature {of_least} by {least} and feature {of_most} by {most}, which no LIBSVM"
                " model with an rbf kernel can hold"
            )
    elif kernel != "linear" and any(affine.offsets):
        return f"{folding.path} moves the origin, which a LIBSVM model with a {kernel} kernel cannot hold"
    return f"a number of the model overflows once {folding.path} is part of it"
