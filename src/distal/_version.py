"""The version, in the one place that all other code reads."""

__version__ = "0.5.0"
