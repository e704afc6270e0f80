"""How a tree comes about: options, growers, policies, large nodes, splitters."""
