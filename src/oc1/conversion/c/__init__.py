"""Models as C programs."""
