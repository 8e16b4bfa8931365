"""Tests of the documents, the site, the notebooks and the examples."""
