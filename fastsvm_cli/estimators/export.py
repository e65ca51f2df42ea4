"""Export of a fitted estimator as a LIBSVM model file."""

from typing import Any

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.pipelines import read_estimator
from fastsvm_cli.estimators.scaling import absorbed
from fastsvm_cli.models.exact import ExactModel


def to_libsvm(estimator: Any, path: "str | None" = None) -> "dict[int, Any]":
    """Write a fitted estimator as a LIBSVM model file, for svm-predict and every command of fastsvm.

    estimator: SVC, NuSVC, SVR, NuSVR or OneClassSVM; or a Pipeline of scalers and one of them, if the scalers can be
    folded into the model (see `absorbed`). path: the file; None: write nothing, only return the labels.

    Returns {label in the file: class}, in the order of the file; {} for a regression model. Labels are the classes
    themselves if these are whole numbers, else their positions in classes_. Feature j of X, counted from 0, has index j
    + 1.

    Raises ModelFormatError for an estimator that LIBSVM's format cannot hold, and FileError.

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
        with Output(str(path)) as output:
            output.write(text)
    label = model.header.label
    if found.classes is None:
        return {}
    return dict(zip([-1, 1] if label is None else label, found.classes.tolist()))


def readable_text(model: ExactModel) -> bytes:
    """Return the file content of an exact model, checked by the parser. Raises ModelFormatError."""
    from fastsvm_cli.models import parse_model

    text = model.to_text()
    parse_model(text, model.path)
    return text
