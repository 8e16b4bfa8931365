"""Which learners to try next: the protocol of a search, two searches, evolutions of many runs on disk."""
