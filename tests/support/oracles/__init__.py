"""Every formula again, written to be read: slow, dense, in extended precision, without code of the package. A row is a
dict {LIBSVM index: value}."""

from support.oracles.border import (
    BorderFile,
    border_values,
    density,
    density_bandwidth,
    density_log_odds,
    density_weights,
    log_sum_exp,
    slope,
)
from support.oracles.exact import (
    MIN_PROBABILITY,
    couple,
    decision_values,
    kernel_matrix,
    kernel_values,
    labels,
    magnitudes,
    one_class_probability,
    pairwise,
    probabilities,
    rounding_radius,
    self_kernel,
)
from support.oracles.libsvm_order import behind_serials, libsvm_kernel, libsvm_values, precomputed_rows
from support.oracles.machine import EXTENDED, KERNELS, OWN_KERNELS, SVM_TYPES, UNIT, Machine, data_text, dense, row_text
from support.oracles.maclaurin import (
    about,
    apply,
    bound_ratio,
    expansion,
    expansion_values,
    exponents,
    largest_squared_norm,
)
from support.oracles.ordered import cholesky, forward, intervals, odds, papers_interval, papers_stops
from support.oracles.trials import random_machine, random_rows
