"""What everything else stands on: checks, files, folders, memory, Ctrl-C, statistics, colours."""
