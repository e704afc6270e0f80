"""The search at a node, step by step, as a picture or a page."""
