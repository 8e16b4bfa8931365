"""Which learners to try next: the genetic algorithm, evolutions of many runs, and how they are kept."""
