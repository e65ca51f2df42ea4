"""Python API for arrays and fitted estimators. The command does not load it; it does not import scikit-learn."""
