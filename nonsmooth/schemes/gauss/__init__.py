"""gauss."""
