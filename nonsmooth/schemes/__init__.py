"""Time-stepping schemes, each in one source that runs compiled and uncompiled, in the plane and in space."""
