"""What learners do: rules looked into."""
