"""fastsvm: support vector machines that predict much faster.

compile(svc) makes a FastSVM of a fitted scikit-learn estimator, a libsvm-official model or a LIBSVM model file;
load(path) reads any model file, exact or compiled, loads(text) its content. A FastSVM predicts like the estimator::

    fast = fastsvm_cli.compile(svc)                    # no label changes
    fast = fastsvm_cli.compile(svc, "auto", X=X)       # the fastest that changes at most 0.5 % of X's labels
    fast = fastsvm_cli.load("a9a.model.approx", exact="a9a.model")
    labels = fast.predict(X)                           # X: (rows, features), dense, sparse or a frame

predict_file predicts a file; to_libsvm writes a LIBSVM model file; fastsvm_cli.sklearn has estimators that train and
compile; fastsvm_cli.dask takes Dask's collections. Unusable files and models raise FastsvmErrors. For your own loops::

    model = fastsvm_cli.load_model("a9a.model.approx")
    for chunk in fastsvm_cli.read_chunks("a9a.t"):
        decisions = fastsvm_cli.Decisions(model.pairs)
        model.decision_values(chunk, decisions, fastsvm_cli.Wanted.values())  # or labels(), within(tolerance)
        numpy.asarray(decisions.value)                 # (rows, pairs)
"""

__version__ = "0.1.0"

_HOMES = {
    "Chunk": "fastsvm_cli._native",
    "Decisions": "fastsvm_cli._native",
    "FastSVM": "fastsvm_cli.estimators.predictor",
    "FastsvmError": "fastsvm_cli.errors",
    "FastsvmWarning": "fastsvm_cli.errors",
    "Wanted": "fastsvm_cli.models",
    "compile": "fastsvm_cli.estimators.compile",
    "load": "fastsvm_cli.estimators.files",
    "load_model": "fastsvm_cli.models",
    "loads": "fastsvm_cli.estimators.files",
    "patch": "fastsvm_cli.estimators.patching",
    "patched": "fastsvm_cli.estimators.patching",
    "predict_file": "fastsvm_cli.estimators.files",
    "read_chunks": "fastsvm_cli.text.read_rows",
    "to_libsvm": "fastsvm_cli.estimators.fitted_svm",
    "unpatch": "fastsvm_cli.estimators.patching",
}
__all__ = list(_HOMES)


def __getattr__(name: str):
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_HOMES})
