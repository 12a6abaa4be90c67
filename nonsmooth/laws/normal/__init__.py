"""Normal laws, one file per family."""
