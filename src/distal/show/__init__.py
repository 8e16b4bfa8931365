"""An agent to look at: pages and films."""
