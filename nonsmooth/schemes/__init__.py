"""Time-stepping schemes, each in one text that runs compiled and uncompiled, in the plane and in space."""
