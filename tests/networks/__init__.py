"""Tests of `distal.networks`."""
