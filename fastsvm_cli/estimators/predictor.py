"""Models that predict arrays, with scikit-learn's conventions."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from fastsvm_cli import _native
from fastsvm_cli.errors import ModelFormatError, RowError
from fastsvm_cli.estimators.agreement import Compared
from fastsvm_cli.estimators.fitted_estimator import (
    BEYOND_VOTES,
    CERTIFIED,
    available,
    has_classes,
    has_probability,
    has_proofs,
    has_radii,
    is_one_class,
)
from fastsvm_cli.estimators.rows import (
    ParsedRows,
    Rows,
    check_names,
    chunk_of,
    in_blocks,
    require_kernel_values,
    rows_of,
    serial_chunk_of,
)
from fastsvm_cli.estimators.sklearn_numbers import Classes, OwnCode, deciding, nearly_equal
from fastsvm_cli.models import LABELS, ExactModel, Model, Precision, parse_libsvm, read_model_text
from fastsvm_cli.prediction import Answer, Fallback, Predictor


def of_file(path: "str | bytes | os.PathLike[str]", parse: "Callable[..., Model]", **settings: Any) -> "FastSVM":
    """Read a model file. settings: keyword arguments of FastSVM."""
    path = os.fsdecode(path)
    text = read_model_text(path)
    fast = FastSVM(parse(text, path), fingerprint=_native.fingerprint(text), **settings)
    fast._path = path
    return fast


class FastSVM(Compared):
    """A support vector machine that predicts arrays like a fitted scikit-learn estimator.

    The model is exact or compiled. Unless `sklearn` is set, its answers are those of the command `fastsvm predict`, bit
    for bit. `load` and `compile` make objects of this class.

    Parameters
    ----------
    model : Model
        The model, as from `load_model`.
    exact : str, bytes, os.PathLike, Model or FastSVM, default=None
        The exact model that `model` was compiled from, or its path. It answers the rows whose label is not proven, so
        that every label is svm-predict's. `model` must be certified.
    tolerance : float, default=None
        For regression, in the unit of values: with `exact`, the exact model answers the rows whose radius is larger.
        Without it, an ordered model stops once a value is within this distance of the exact model's.
    n_threads : int, default=None
        Number of threads. None and 0 mean all available CPUs.
    classes : array-like of shape (n_classes,), default=None
        The classes, which must be sortable, in the order of the model's labels. None means the labels.
    n_features_in : int, default=None
        Number of columns of `X`. None means the columns up to the model's largest feature. Set it if the last features
        are zero in every support vector.
    zero_based : bool, default=None
        Whether column 0 of `X` is LIBSVM's feature 0. None means that it is if the model has a feature 0. Set it if the
        model was trained with a feature 0 that is zero in every support vector.
    feature_names_in : array-like of str, default=None
        The column names that a frame must have.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Shape of the decision values of more than two classes, as in scikit-learn's SVC.
    break_ties : bool, default=False
        Whether decision values break ties between classes, as in scikit-learn's SVC.
    transform : object, default=None
        Its method `apply(block)` maps rows of `X`, dense or CSR, before the model.
    calibrator : object, default=None
        Its method `probabilities(decision_values)` returns an array of shape (n_samples, n_classes).
    options : dict, default=None
        The options of the compilation, for display.
    fingerprint : str, default=None
        The fingerprint of the model's file. None means that of the model's text.
    sklearn : {"dense", "sparse"}, default=None
        If set, the numbers of the model are those of a scikit-learn estimator that was fitted to such rows. Labels that
        depend on rounding are then the estimator's, by scikit-learn's own code; without scikit-learn, they are
        svm-predict's. Probabilities of two classes follow scikit-learn's LIBSVM.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The sorted classes. Only for classification.
    n_features_in_ : int
        Number of columns of `X`.
    first_index : int
        LIBSVM's index of column 0, 0 or 1.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The column names, if `feature_names_in` is given.
    offset_ : float
        The offset of the decision values from `score_samples`. Only for one-class models.
    attempts_ : Attempts
        A table of the models that `compile` with `method="auto"` tried, and why it took this one (`attempts_.reason`).

    Raises
    ------
    ModelFormatError
        If `exact` is another model than the one that `model` was compiled from, or no model.
    FileError
        If the file of `exact` cannot be read.
    ValueError
        If arguments are invalid or conflict.

    Notes
    -----
    All methods take rows `X` of shape (n_samples, n_features_in_): a NumPy array, a SciPy sparse matrix, whose
    duplicate entries are added up, a pandas frame or nested lists. `predict` lists the errors of invalid rows. Many
    rows are answered by several threads, without the GIL.

    Objects are thread-safe. `sklearn.base.clone` returns a fitted copy. A pickle contains the text of the model file.

    Examples
    --------
    >>> fast = fastsvm_cli.load("rings.model.approx", exact="rings.model")
    >>> fast
    FastSVM(maclaurin, c_svc, n_features_in_=8, certified, exact)
    >>> fast.classes_
    array([-1,  1])
    """

    feature_names_in_: np.ndarray
    offset_: float
    _reference: Any = None  # its source; not pickled
    _classification: bool
    _rows_as_given: bool  # without a transformation
    sklearn: "str | None" = None  # for older pickles
    _who: "str | None" = None  # name in messages; None: of the class
    _names_checked = False  # whether the caller checks column names

    def __init__(
        self,
        model: Model,
        *,
        exact: "str | bytes | os.PathLike[str] | Model | FastSVM | None" = None,
        tolerance: "float | None" = None,
        n_threads: "int | None" = None,
        classes: Any = None,
        n_features_in: "int | None" = None,
        zero_based: "bool | None" = None,
        feature_names_in: Any = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        transform: Any = None,
        calibrator: Any = None,
        options: "dict[str, Any] | None" = None,
        fingerprint: "str | None" = None,
        sklearn: "str | None" = None,
    ):
        self.model, self.tolerance, self.n_threads = model, tolerance, n_threads
        self.classes, self.n_features_in, self.feature_names_in = classes, n_features_in, feature_names_in
        self.zero_based = zero_based
        self.decision_function_shape, self.break_ties = decision_function_shape, break_ties
        self.transform, self.calibrator, self.options = transform, calibrator, options
        self.fingerprint, self.sklearn = fingerprint, sklearn
        self._path: str | None = None
        self._set_up()
        self.exact = self._checked_exact(exact)

    _parameters = ("model", *(__init__.__kwdefaults__ or ()))

    def _set_up(self) -> None:
        header, least = self.model.header, self.model.first_index
        if self.zero_based is False and least == 0 and not self.model.serials:
            raise ValueError("zero_based=False found, but the model knows a feature 0")
        self.first_index = least if self.zero_based is None else 1 - bool(self.zero_based)
        known = self.model.max_index if self.model.serials else self.model.columns + least - self.first_index
        if self.tolerance is not None and not header.regression:
            raise ValueError("tolerance= is for regression models; a label is proven or it is not")
        if self.tolerance is not None and not self.tolerance >= 0:
            raise ValueError(f"tolerance={self.tolerance!r} found, expected 0 or more")
        if self.decision_function_shape not in ("ovr", "ovo"):
            raise ValueError(f"decision_function_shape={self.decision_function_shape!r} found, expected 'ovr' or 'ovo'")
        if self.sklearn not in (None, "dense", "sparse"):
            raise ValueError(f"sklearn={self.sklearn!r} found, expected None, 'dense' or 'sparse'")
        self._predictors: dict[str, tuple[Predictor, int]] = {}
        self._classification = header.classification
        self._rows_as_given = self.transform is None and not self.model.serials and self.model.embedded_scaling is None
        # Once it was needed. Not a cached_property: a copy may run over the attributes while a thread adds one.
        self._own: tuple[OwnCode | None] | None = None
        if header.classification:
            self._classes = Classes(header.label or [], self.classes)
            self.classes_ = self._classes.classes_
        elif header.svm_type == "one_class":
            self.offset_ = header.rho[0]
        if self.n_features_in is not None and self.transform is None and self.n_features_in < known:
            raise ValueError(
                f"n_features_in={self.n_features_in} found, but the model knows a feature {self.model.max_index}"
            )
        self.n_features_in_ = known if self.n_features_in is None else int(self.n_features_in)
        if self.feature_names_in is not None:
            self.feature_names_in_ = np.asarray(self.feature_names_in, dtype=object)

    @property
    def beyond_votes(self) -> bool:
        """Whether labels need more than the signs of decision values, so that radii decide no label."""
        header = self.model.header
        return self.calibrator is not None or (self.break_ties and header.classification and header.nr_class > 2)

    def _checked_exact(self, exact: "str | bytes | os.PathLike[str] | Model | FastSVM | None") -> "FastSVM | None":
        if exact is None:
            return None
        model = self.model
        if self.beyond_votes:
            raise ValueError(f"exact= does not go with a calibrator or break_ties: {BEYOND_VOTES}")
        if model.folded is not None and model.folded.unproven is not None:
            raise ValueError(f"exact= goes with a certified model: {model.folded.unproven}")
        if not model.certified:
            raise ValueError(
                "exact= goes with a certified model: " + ("its labels are exact already" if model.proves else CERTIFIED)
            )
        if model.header.regression and self.tolerance is None:
            raise ValueError("exact= needs tolerance= for a regression model: the largest radius a value may keep")
        if isinstance(exact, (str, bytes, os.PathLike)):
            exact = of_file(exact, lambda text, path: parse_libsvm(text, path).plain())
        elif isinstance(exact, Model):
            exact = FastSVM(exact)
        if exact.own_fingerprint != model.fingerprint:
            raise ModelFormatError(
                exact._path or "exact",
                "this is not the model that the other was compiled from (their fingerprints differ)",
            )
        return exact

    # ---- answers

    def predict(self, X) -> np.ndarray:
        """Predict the class, or the regression value, of each row.

        Votes of the pairs of classes decide, as in LIBSVM, unless `break_ties` or a calibrator is set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features_in_)
            The rows. For a precomputed kernel, the kernel values of each row with all training rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes; for a one-class model +1 (inlier) or -1; for regression float64 values.

        Raises
        ------
        ValueError
            If `X` is not a matrix of finite real numbers with the expected columns, if the model cannot evaluate a row,
            or if `break_ties` is set and `decision_function_shape` is "ovo".
        TypeError
            If `X` is a NumPy matrix, or contains dates or times.

        Examples
        --------
        >>> fast = fastsvm_cli.load("rings.model")
        >>> fast.predict(numpy.full((2, 8), 0.5, dtype=numpy.float32))
        array([1, 1])
        """
        if self.calibrator is not None:
            return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        if self.break_ties and self._classification:
            if self.decision_function_shape == "ovo":
                raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
            if len(self.classes_) > 2:
                return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        return self._answer("labels", X, self._labels)

    @available(has_classes)
    def decision_function(self, X) -> np.ndarray:
        """Compute the decision values of rows `X`, as in `predict`. Regression models do not have this method.

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes, a value per row, positive for `classes_[1]`. For a one-class model, a value per row,
            positive for inliers. For more classes and `decision_function_shape` "ovr", a value per class, largest for
            the class with the most votes. For "ovo", LIBSVM's values of the pairs 0/1, 0/2, ..., 1/2, ... of
            `classes_`, positive for the first class of a pair.

        Examples
        --------
        >>> fast = fastsvm_cli.load("rings.model")
        >>> values = fast.decision_function(X)
        >>> values.shape, bool((fast.predict(X) == fast.classes_[(values > 0).astype(int)]).all())
        ((6000,), True)
        >>> four = fastsvm_cli.load("colors.model")
        >>> four.decision_function(numpy.zeros((1, 60))).shape
        (1, 4)
        >>> four.set_params(decision_function_shape="ovo").decision_function(numpy.zeros((1, 60))).shape
        (1, 6)
        """
        return self._answer("values", X, self._decision_values)

    @available(has_probability)
    def predict_proba(self, X) -> np.ndarray:
        """Compute the probabilities of the classes of rows `X`, as in `predict`: (n_samples, n_classes).

        Columns are in the order of `classes_`; those of a one-class model are normal and outlier. The probabilities are
        LIBSVM's, of a model trained with `-b 1` (scikit-learn: `probability=True`), or the calibrator's. Models without
        probabilities do not have this method.

        Examples
        --------
        >>> fast = fastsvm_cli.load("colors.model")
        >>> fast.predict_proba(numpy.zeros((3, 60))).sum(axis=1).round(6)
        array([1., 1., 1.])
        """
        if self.calibrator is not None:
            return np.asarray(self.calibrator.probabilities(self.decision_function(X)))
        return self._answer("probability", X, self._probabilities)

    @available(has_probability)
    def predict_log_proba(self, X) -> np.ndarray:
        """Compute the logarithms of `predict_proba`, (n_samples, n_classes). It exists where `predict_proba` does."""
        return np.log(self.predict_proba(X))

    @available(is_one_class)
    def score_samples(self, X) -> np.ndarray:
        """Compute `decision_function` plus `offset_`, (n_samples,). Only one-class models have this method."""
        return self.decision_function(X) + self.offset_

    @available(has_radii)
    def radius(self, X) -> np.ndarray:
        """Compute proven bounds on the distances of decision values from those of the exact model.

        For regression, the bounds are on the distances of the predicted values. Only certified models have this method,
        as from `compile` with `method="approx"` and `certify=True`, or with `method="reduce"`. Rows `X` are as in
        `predict`.

        Returns
        -------
        radii : ndarray of shape (n_samples,) or (n_samples, n_pairs)
            A bound per row or, for more than two classes, per pair of classes, in the order of "ovo" decision values.

        Examples
        --------
        >>> fast, exact = fastsvm_cli.load("rings.model.approx"), fastsvm_cli.load("rings.model")
        >>> apart = abs(fast.decision_function(X) - exact.decision_function(X))
        >>> bool((apart <= fast.radius(X)).all())
        True
        """
        return self._answer("radius", X, self._radii)

    @available(has_proofs)
    def proven(self, X, tolerance: "float | None" = None) -> np.ndarray:
        """Return for each row whether its label is proven to be the exact model's, without `exact`: (n_samples,) bool.

        For regression, return whether the value is proven to be within `tolerance` of the exact model's. The method
        exists for certified models and for models whose labels are always the exact model's, unless labels need more
        than votes (a calibrator, or `break_ties` with more than two classes).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features_in_)
            The rows.
        tolerance : float, default=None
            The largest radius of a value. A certified regression model without it raises ValueError.

        Examples
        --------
        >>> fast = fastsvm_cli.load("rings.model.approx")
        >>> sure = fast.proven(X)
        >>> sure.dtype, bool((fast.predict(X[sure]) == fastsvm_cli.load("rings.model").predict(X[sure])).all())
        (dtype('bool'), True)
        """
        if not self.model.certified:  # the exact model, or one with the same labels
            return np.ones(self._rows(X).rows, dtype=bool)
        if not self.model.header.regression:
            return self._answer("proven", X, self._decided)
        if tolerance is None:
            raise ValueError("a regression model needs tolerance=: the largest radius a value may have")
        return self.radius(X) <= tolerance

    def _rows(self, X) -> Rows:
        if isinstance(X, ParsedRows):
            return X
        who = self._who or type(self).__name__
        if not self._names_checked and (self.feature_names_in is not None or type(X) is not np.ndarray):
            check_names(X, self.feature_names_in, who, self.sklearn is not None)
        rows = rows_of(X, who)
        expected = self.n_features_in_
        if rows.columns != expected:
            is_known = self.n_features_in is not None
            # A model without vectors knows no number of features.
            if self.model.serials and rows.columns > expected:
                require_kernel_values(rows, expected, is_known, who)
            elif is_known or expected:
                hint = "" if is_known else f" ({self._features_known()})"
                raise ValueError(
                    f"X has {rows.columns} features, but {who} is expecting {expected} features as input."
                    + hint * (rows.columns > expected)
                )
        return rows

    def _chunk(self, rows: Rows, first: int, last: int) -> _native.Chunk:
        if self._rows_as_given:
            return rows.chunk(first, last, type(self).__name__, self.first_index)
        chunk = self._raw_chunk(rows, first, last)
        if self.model.embedded_scaling is None:
            return chunk
        try:
            return self.model.embedded_scaling.rows(chunk)
        except RowError as error:
            raise ValueError(f"row {first + error.row}: {error.why}") from None

    def _raw_chunk(self, rows: Rows, first: int, last: int) -> _native.Chunk:
        who = type(self).__name__
        if self.model.serials and not isinstance(rows, ParsedRows):
            return serial_chunk_of(rows.block(first, last, who), who)
        if self.transform is None or isinstance(rows, ParsedRows):
            return rows.chunk(first, last, who, self.first_index)
        return chunk_of(self.transform.apply(rows.floats(first, last, who)), who, self.first_index)

    def _features_known(self) -> str:
        first = self.first_index
        more = "if the data has more at the end, say n_features_in="
        before = "; if it begins with a feature 0, say zero_based=True" if first else ""
        return f"the model file names features {first} to {self.model.max_index}: {more}{before}"

    def _answer(self, kind: str, X, result) -> np.ndarray:
        rows = self._rows(X)
        predictor, values = self._predictors.get(kind) or self._predictor(kind)

        def block(first: int, last: int) -> np.ndarray:
            chunk = self._chunk(rows, first, last)
            answer = predictor.answer(chunk)
            if answer.error is not None:
                row, why = answer.error
                raise ValueError(f"row {first + row - chunk.first_line}: {why}")
            return result(answer)

        return in_blocks(rows, values, self.n_threads, block)

    def _predictor(self, kind: str) -> "tuple[Predictor, int]":
        """Return the predictor of a kind of answers, and the numbers, at least 1, that it holds per row."""
        labels = kind == "labels"
        predictor = Predictor(
            self.model,
            values=kind in ("values", "radius"),
            probability=kind == "probability",
            open_rows=kind == "proven",
            exact=self.fallback() if labels or kind in ("values", "probability") else None,
            tolerance=self.early_tolerance if labels else None,
        )
        values = 1 if labels and not predictor.with_radius else max(self.model.pairs, 1)
        if self.model.embedded_scaling is not None:
            values = max(values, self.model.embedded_scaling.native.shifted)
        self._predictors[kind] = predictor, values
        return predictor, values

    @property
    def _own_code(self) -> "OwnCode | None":
        if self._own is None:
            exact = deciding(self.model, None if self.exact is None else self.exact.model)
            own = None
            if self.sklearn is not None and exact is not None:
                try:
                    own = OwnCode(exact, max(self.n_features_in_, exact.max_index), self.sklearn == "sparse")
                except ImportError:
                    pass
            self._own = (own,)
        return self._own[0]

    def fallback(self) -> "Fallback | None":
        """Return the exact model of the parameter `exact`, with `tolerance`; None without `exact`."""
        if self.exact is None:
            return None
        exact = self.exact.model
        if isinstance(exact, ExactModel):  # a reduced set's radii refer to its source
            exact = exact.plain()
        return Fallback(lambda: exact, self.tolerance or 0.0)

    @property
    def early_tolerance(self) -> "float | None":
        """Error at which an ordered regression model without `exact` stops. None for other models."""
        return self.tolerance if self.model.ordered and self.model.header.regression and self.exact is None else None

    @property
    def probability_header(self) -> _native.Header:
        """Header with the probability parameters. A reduced set with `exact` uses the header of the exact model."""
        return self.model.header if self.exact is None or not self.model.reduced else self.exact.model.header

    def _labels(self, answer: Answer) -> np.ndarray:
        labels = np.asarray(answer.predictions.label)
        if self.sklearn == "dense" and answer.reference_rows and (own := self._own_code) is not None:
            near = self._by_reference(own, answer, LABELS)
            if len(near):
                labels = labels.copy()
                labels[near] = own.labels(answer.chunk.select(near))
        if self._classification:
            return self._classes.of(labels)
        return labels.copy() if self.model.header.regression else labels.astype(np.intp)

    def _decision_values(self, answer: Answer) -> np.ndarray:
        out = self._shaped(np.asarray(answer.decisions.value))
        if (answer.reference_rows or self.beyond_votes) and (own := self._own_code) is not None:
            near = self._near_rows(own, answer, out)
            if len(near):
                out[near] = self._shaped(own.values(answer.chunk.select(near)))
        return out

    def _by_reference(self, own: OwnCode, answer: Answer, precision: Precision) -> np.ndarray:
        if not answer.reference_rows:
            return np.empty(0, np.intp)
        if own.exact is self.model:
            return np.flatnonzero(answer.decisions.evaluations)
        return own.near(answer.chunk, precision)

    def _near_rows(self, own: OwnCode, answer: Answer, shaped: np.ndarray) -> np.ndarray:
        # The label that follows from decision values may change by their rounding, too.
        near = self._by_reference(own, answer, Precision.values())
        if not self.beyond_votes:
            return near
        if self.calibrator is None:
            more = nearly_equal(shaped)
        else:
            radii = own.radii(answer.chunk)
            # "ovr" adds values / 3 to whole votes.
            radii = radii if shaped.shape == radii.shape else radii.sum(axis=1, keepdims=True)
            more = self.calibrator.near(shaped, radii[:, 0] if shaped.ndim == 1 else radii + 1e-15)
        return np.union1d(near, np.flatnonzero(more))

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        if not self._classification:
            return values[:, 0].copy()
        pairwise = self._classes.pairwise(values)
        if len(self._classes) == 2:
            return -pairwise[:, 0]
        return pairwise if self.decision_function_shape == "ovo" else self._classes.one_against_rest(pairwise)

    def _probabilities(self, answer: Answer) -> np.ndarray:
        if self.sklearn is not None and self._classification and len(self.classes_) == 2:
            answer.predictions.iterate_pairs()
        found = np.asarray(answer.predictions.probability)
        return self._classes.probabilities(found) if self._classification else found.copy()

    def _radii(self, answer: Answer) -> np.ndarray:
        radii = np.asarray(answer.decisions.radius)
        if radii.shape[1] == 1:
            return radii[:, 0].copy()
        return self._classes.radii(radii)

    def _decided(self, answer: Answer) -> np.ndarray:
        decided = np.ones(answer.chunk.rows, dtype=bool)
        decided[answer.open_rows] = False
        return decided
