"""Learners set side by side, and rules looked into."""
