"""Required precision of decision values."""

from fastsvm_cli._native import Wanted as Wanted

#: Default of decision_values.
LABELS = Wanted.labels()
