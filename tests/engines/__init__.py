"""Tests of `distal.engines`."""
