"""What a fit sees: categories, the search space, exact moments, what is kept back."""
