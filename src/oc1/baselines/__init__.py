"""The learners that the paper compares OC1 with, or names."""
