"""scikit-learn's estimator protocol. Only scikit-learn's own calls import scikit-learn."""

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from fastsvm_cli.models.base import Model

Self = TypeVar("Self", bound="FittedEstimator")

_PARAMETERS = (
    "model",
    "exact",
    "tolerance",
    "n_threads",
    "classes",
    "n_features_in",
    "zero_based",
    "feature_names_in",
    "decision_function_shape",
    "break_ties",
    "transform",
    "calibrator",
    "options",
    "fingerprint",
    "sklearn",
)


class FittedEstimator:
    """Base of FastSVM. Every parameter is an attribute of the same name."""

    model: "Model"
    _path: "str | None"
    _reference: Any

    def __copy__(self: Self) -> Self:
        raise NotImplementedError

    def fit(self: Self, X, y=None, **_: Any) -> Self:
        """Do nothing, since the model is fitted.

        Parameters
        ----------
        X : object
            Ignored.
        y : object, default=None
            Ignored.
        **_
            Ignored.

        Returns
        -------
        self : FastSVM
            The object itself.
        """
        return self

    def get_params(self, deep: bool = True) -> "dict[str, Any]":
        """Return the constructor's arguments.

        Parameters
        ----------
        deep : bool, default=True
            Ignored. It exists for compatibility with scikit-learn.

        Returns
        -------
        params : dict
            The arguments by name.
        """
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self: Self, **parameters: Any) -> Self:
        """Change arguments of the constructor.

        Parameters
        ----------
        **parameters
            The arguments to change.

        Returns
        -------
        self : FastSVM
            The object itself.

        Raises
        ------
        ValueError
            If a name is unknown, or arguments are invalid or conflict.
        ModelFormatError
            If `exact` is another model than the compiled model's source.
        FileError
            If the file of `exact` cannot be read.
        """
        for name in parameters:
            if name not in _PARAMETERS:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {list(_PARAMETERS)!r}."
                )
        path, reference = self._path, self._reference
        model = {"fingerprint": None} if parameters.get("model", self.model) is not self.model else {}
        self.__init__(**{**self.get_params(), **model, **parameters})  # type: ignore[misc]
        self._path, self._reference = (None if model else path), reference
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self: Self) -> Self:
        return self.__copy__()

    @property
    def _estimator_type(self) -> str:
        header = self.model.header
        return "classifier" if header.classification else "regressor" if header.regression else "outlier_detector"

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        kind, serials = self._estimator_type, self.model.serials
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(sparse=True, pairwise=serials),
            requires_fit=False,
        )

    def _repr_html_(self) -> str:
        import sys

        if "sklearn" in sys.modules:
            from sklearn.utils import estimator_html_repr

            return estimator_html_repr(self)
        from html import escape

        return f"<pre>{escape(repr(self))}</pre>"
