"""A specimen as scikit-learn's fitted estimator."""

import numpy as np
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from zoo.specimens import Specimen

TYPES = {"c_svc": SVC, "nu_svc": NuSVC, "one_class": OneClassSVM, "epsilon_svr": SVR, "nu_svr": NuSVR}
KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf", "sigmoid": "sigmoid"}


def scikit_learns(specimen: Specimen):
    """The estimator as `fit` leaves it; None if scikit-learn has none: it sorts classes, and knows no empty model."""
    machine = specimen.machine
    if machine.kernel not in KERNELS or not machine.vectors or not machine.features:
        return None
    if machine.classification and (len(machine.label) < 2 or machine.label != sorted(machine.label)):
        return None
    parameters = {"gamma": machine.gamma or 1.0, "coef0": machine.coef0, "degree": machine.degree or 3}
    estimator = TYPES[machine.svm_type](kernel=KERNELS[machine.kernel], **parameters)
    columns = specimen.columns
    vectors = np.array([[row.get(j, 0.0) for j in columns] for row in machine.vectors])
    classes = len(machine.nr_sv) if machine.classification else 0
    estimator.support_vectors_, estimator.support_ = vectors, np.arange(len(vectors), dtype=np.int32)
    estimator._n_support = np.array(machine.nr_sv if classes else [len(vectors)] * 2, dtype=np.int32)
    estimator._dual_coef_ = np.ascontiguousarray(machine.coef.T)
    estimator._intercept_ = -np.array(machine.rho)
    flip = -1 if classes == 2 else 1
    estimator.dual_coef_, estimator.intercept_ = flip * estimator._dual_coef_, flip * estimator._intercept_
    estimator._probA = estimator._probB = np.empty(0)
    estimator._sparse, estimator._gamma, estimator.fit_status_ = False, parameters["gamma"], 0
    estimator.shape_fit_, estimator.n_features_in_ = (len(vectors), len(columns)), len(columns)
    estimator._num_iter = estimator.n_iter_ = np.ones(max(1, len(machine.rho)), dtype=np.int32)
    if classes:
        estimator.classes_, estimator.class_weight_ = np.array(machine.label), np.ones(classes)
    return estimator
