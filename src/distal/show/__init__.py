"""Pages and films of an agent."""
