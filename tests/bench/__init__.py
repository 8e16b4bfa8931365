"""Tests of `distal.bench`."""
