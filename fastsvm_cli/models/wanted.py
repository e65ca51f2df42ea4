"""What a caller needs of a model's decision values."""

from fastsvm_cli._native import Wanted as Wanted

#: What is wanted where nothing is said.
LABELS = Wanted.labels()
