"""Maclaurin expansions (Claesen, De Smet, Suykens and De Moor)."""
