"""Tests of `distal.model`."""
