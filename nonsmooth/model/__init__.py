"""The mechanism: symbols only, without time steps or solvers."""
