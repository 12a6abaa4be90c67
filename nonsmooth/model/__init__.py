"""What the mechanism is: symbols only, without time steps or solvers."""
