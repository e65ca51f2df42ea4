"""Text input and output."""
