"""The experiments of the paper, repeated."""
