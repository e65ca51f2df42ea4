from fastsvm_cli._native import Chunk as Chunk
from fastsvm_cli._native import Decisions as Decisions
from fastsvm_cli.errors import FastsvmError as FastsvmError
from fastsvm_cli.errors import FastsvmWarning as FastsvmWarning
from fastsvm_cli.estimators.compile import compile as compile
from fastsvm_cli.estimators.files import load as load
from fastsvm_cli.estimators.files import loads as loads
from fastsvm_cli.estimators.files import predict_file as predict_file
from fastsvm_cli.estimators.fitted_svm import to_libsvm as to_libsvm
from fastsvm_cli.estimators.patching import patch as patch
from fastsvm_cli.estimators.patching import patched as patched
from fastsvm_cli.estimators.patching import unpatch as unpatch
from fastsvm_cli.estimators.predictor import FastSVM as FastSVM
from fastsvm_cli.models import Wanted as Wanted
from fastsvm_cli.models import load_model as load_model
from fastsvm_cli.text.read_rows import read_chunks as read_chunks

__version__: str
