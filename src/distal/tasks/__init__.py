"""Tasks and their tables, the maze among them; one episode of a network."""
