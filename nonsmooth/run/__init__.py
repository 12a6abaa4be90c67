"""Runs of a mechanism: the checks before the first step, the loop over steps, batches, checkpoints."""
