"""One file per command: its options, its words, its summary. Heavy imports stand inside the bodies."""
