"""Searches for learners: the protocol, two searches, and evolutions of many runs on disk."""
