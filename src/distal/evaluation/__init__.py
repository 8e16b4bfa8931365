"""Evaluations of a learner: many trials in the maze, or in any other task."""
