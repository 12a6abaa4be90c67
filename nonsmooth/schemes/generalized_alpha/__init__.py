"""generalized_alpha."""
