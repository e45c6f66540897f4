"""Networks on points in space: clouds, molecules, moving bodies."""
