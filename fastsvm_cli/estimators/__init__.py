"""Arrays and fitted estimators: the way in and out for Python programs. Nothing here is loaded by the command.

scikit-learn is not imported: its estimators are known by the names of their classes, and read by their attributes."""
