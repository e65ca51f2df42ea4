"""Border samples."""
