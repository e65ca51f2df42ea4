"""From rows to lines of predictions."""
