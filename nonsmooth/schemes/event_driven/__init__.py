"""event_driven."""
