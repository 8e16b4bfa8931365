"""How well a learner does: many trials in the maze, or in any environment."""
