"""Tests of `distal.learners`."""
