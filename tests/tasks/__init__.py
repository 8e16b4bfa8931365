"""Tests of `distal.tasks`."""
