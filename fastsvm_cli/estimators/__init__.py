"""Python API for arrays and fitted estimators. The command loads none of it.

scikit-learn is not imported: its estimators are recognised by class name and read by attribute.
"""
