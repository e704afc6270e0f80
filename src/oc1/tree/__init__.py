"""What a tree is: its structure, tests, validation, pruning, text and summaries."""
