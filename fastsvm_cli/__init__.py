"""fastsvm: compile LIBSVM models into models that predict much faster.

The public Python interface is small and loads nothing until it is used::

    model = fastsvm_cli.load_model("a9a.model.approx")
    for chunk in fastsvm_cli.read_chunks("a9a.t"):
        decisions = fastsvm_cli.Decisions(model.pairs)
        model.decision_values(chunk, decisions, fastsvm_cli.Wanted.values())  # or labels(), within(tolerance)
        numpy.asarray(decisions.value)          # (rows, pairs)
"""

__version__ = "0.1.0"
__all__ = [
    "Chunk",
    "Decisions",
    "FastSVM",
    "FastsvmError",
    "Wanted",
    "compile",
    "load",
    "load_model",
    "predict_file",
    "read_chunks",
    "to_libsvm",
]

_HOMES = {
    "Chunk": "fastsvm_cli._native",
    "Decisions": "fastsvm_cli._native",
    "FastSVM": "fastsvm_cli.estimators.predictor",
    "FastsvmError": "fastsvm_cli.errors",
    "Wanted": "fastsvm_cli.models.wanted",
    "compile": "fastsvm_cli.estimators.compile",
    "load": "fastsvm_cli.estimators.predictor",
    "load_model": "fastsvm_cli.models",
    "predict_file": "fastsvm_cli.estimators.files",
    "read_chunks": "fastsvm_cli.text.data",
    "to_libsvm": "fastsvm_cli.estimators.export",
}


def __getattr__(name: str):
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_HOMES})
