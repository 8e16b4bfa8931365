"""Tests of `distal.base`."""
