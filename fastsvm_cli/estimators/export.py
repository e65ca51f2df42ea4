"""Export of an estimator as a LIBSVM model file."""

import os
from typing import Any

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.fitted_svm import read_estimator
from fastsvm_cli.estimators.scaling import absorbed
from fastsvm_cli.models.base import ExactModel


def to_libsvm(estimator: Any, path: "str | bytes | os.PathLike[str] | None" = None) -> "dict[int, Any]":
    """Write a fitted estimator as a LIBSVM model file.

    With the file, labels that depend on rounding are svm-predict's. Probabilities of two classes follow LIBSVM's
    formula and differ from scikit-learn's by up to 0.005.

    Parameters
    ----------
    estimator : estimator
        A fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM, or a Pipeline of one and scalers that can be folded into it.
    path : str, bytes or os.PathLike, default=None
        The file to write. None means that no file is written.

    Returns
    -------
    classes : dict
        The class of each label in the file; empty for regression. Labels are the classes if these are whole numbers,
        else positions in `classes_`. Column j of the estimator's rows is feature j + 1.

    Raises
    ------
    ModelFormatError
        If LIBSVM's format cannot hold the estimator.
    FileError
        If the file cannot be written.

    See Also
    --------
    compile : Compile a fitted estimator.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svc = SVC(gamma=0.5).fit([[0, 0], [1, 1], [0, 1], [1, 0]], ["even", "even", "odd", "odd"])
    >>> to_libsvm(svc, "/dev/null")
    {0: 'even', 1: 'odd'}
    """
    found = read_estimator(estimator)
    if found.calibration is not None:
        why = "calibrators found, which no LIBSVM model has: give its estimator (fastsvm_cli.compile keeps them)"
        raise ModelFormatError(found.name, why)
    model = found.model
    if found.break_ties and model.header.nr_class > 2:
        why = "break_ties=True found, which LIBSVM does not know: say set_params(break_ties=False)"
        raise ModelFormatError(found.name, why)
    if found.scaling is not None:
        folded = absorbed(model, found.scaling, found.n_features)
        if folded is None:
            why = (
                f"its scalers cannot be made part of a model of a {model.header.kernel_type} kernel: give its last step"
                " and scale the data (fastsvm_cli.compile keeps them in front)"
            )
            raise ModelFormatError(found.name, why)
        model = folded
    if path is not None:
        from fastsvm_cli.text.output import Output

        text = readable_text(model)
        with Output(os.fsdecode(path)) as output:
            output.write(text)
    label = model.header.label
    if found.classes is None:
        return {}
    return dict(zip([-1, 1] if label is None else label, found.classes.tolist()))


def readable_text(model: ExactModel) -> bytes:
    """Return the content of a model's file; raise ModelFormatError if the parser refuses it."""
    from fastsvm_cli.models import parse_model

    text = model.to_text()
    parse_model(text, model.path, warn=False)
    return text


def require_readable(model: ExactModel) -> None:
    """Raise ModelFormatError if the parser refuses the header; the vectors were checked when they were made."""
    from fastsvm_cli.models import parse_model

    nr_sv = model.header.nr_sv
    header = model.header.changed(total_sv=0, nr_sv=None if nr_sv is None else [0] * len(nr_sv))
    parse_model(header.lines().encode() + b"SV\n", model.path)
