"""How a tree comes about: options, growers, starts, large nodes, splitters."""
