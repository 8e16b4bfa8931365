"""`python -m distal`, the same as `distal`."""

import sys

from distal.cli import main

sys.exit(main())
