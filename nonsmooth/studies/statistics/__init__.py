"""What the statistics of a long motion are made of: measures of windows of time, members of an ensemble, estimates."""
