"""Tests of the page's script, in a browser."""
