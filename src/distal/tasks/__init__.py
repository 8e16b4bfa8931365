"""What is to be learned: the maze as a walk and as an environment for Gymnasium; one episode of a network."""
