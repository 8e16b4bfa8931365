"""What the results of learners say when they are set side by side."""
