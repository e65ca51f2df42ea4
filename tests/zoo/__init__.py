"""Every model and every row that a test needs, made in one place: traits, kinds, interfaces. See tests/README.md."""
