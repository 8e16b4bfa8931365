"""Hypothesis profiles: fixed cases in continuous integration, fresh ones elsewhere."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("local", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
