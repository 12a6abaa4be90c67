"""Parts of the statistics of a long motion: measures of windows of time, members of an ensemble, estimates."""
