"""Tests of `distal.show`."""
