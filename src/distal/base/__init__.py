"""The base of all other packages: checks, files, folders, memory, Ctrl-C, statistics, colours."""
