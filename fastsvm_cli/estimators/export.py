"""A fitted estimator as a LIBSVM model file."""

from typing import Any

from fastsvm_cli.errors import ModelFormatError
from fastsvm_cli.estimators.pipelines import read_estimator
from fastsvm_cli.estimators.scaling import absorbed
from fastsvm_cli.models.exact import ExactModel


def to_libsvm(estimator: Any, path: "str | None" = None) -> "dict[int, Any]":
    """Write a fitted estimator as a LIBSVM model file, for svm-predict and every command of fastsvm.

    estimator: SVC, NuSVC, SVR, NuSVR or OneClassSVM; or a Pipeline of scalers and one of them, where the scalers can be
    made part of the model (see `absorbed`). path: the file; None: nothing is written, which is how to learn the labels.

    Returns {label in the file: the class that it stands for}, in the order of the file; {} of a regression model. The
    labels are the classes themselves where these are whole numbers, and else their places in classes_. Feature j of X,
    counted from 0, is index j + 1.

    Raises ModelFormatError for what no LIBSVM model says, and FileError.

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
    """The file of an exact model, once the parser has read it. Raises ModelFormatError."""
    from fastsvm_cli.models import parse_model

    text = model.to_text()
    parse_model(text, model.path)
    return text
