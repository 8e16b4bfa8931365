"""Tests of `distal.evaluation`."""
