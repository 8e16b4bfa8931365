"""The studies that come with the package, one file each.

The name of a file is the word for its command, the first line of its docstring is the help.
"""
