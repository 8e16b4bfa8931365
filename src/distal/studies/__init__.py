"""Studies: the paper's experiments, its readings, other tasks, rivals and champions, with their reports."""
