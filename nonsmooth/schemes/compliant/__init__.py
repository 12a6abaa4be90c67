"""compliant."""
