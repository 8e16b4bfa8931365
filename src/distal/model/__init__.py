"""The system, one idea per file: the maze, the network, its traces, random numbers, settings."""
