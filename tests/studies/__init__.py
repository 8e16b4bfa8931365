"""Tests of `distal.studies`."""
