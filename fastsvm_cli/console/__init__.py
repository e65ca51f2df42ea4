"""Code shared by the commands."""
