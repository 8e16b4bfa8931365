"""Claims about the system, each worked by hand or by an independent route."""
