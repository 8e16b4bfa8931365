"""Tests of `distal.search`."""
