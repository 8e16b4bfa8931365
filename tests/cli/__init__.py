"""Tests of `distal.cli`."""
