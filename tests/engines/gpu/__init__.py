"""Tests of `distal.engines.gpu`."""
