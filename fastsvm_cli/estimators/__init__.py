"""Python API for arrays and fitted estimators. It does not import scikit-learn."""
