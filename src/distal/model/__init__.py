"""The system, one idea a file: the maze, the network, its traces, random numbers, settings."""
