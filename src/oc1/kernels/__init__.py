"""Compiled code, a file for each step of the paper."""
