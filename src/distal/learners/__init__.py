"""The learners: each file holds one, and all have the same anatomy.

A learner is a small frozen object with its parameters, and a function
`episodes(learner, maze, goal, settings, seed, resample)` that trains one network
without end and yields every episode as it ends. The loop is at the bottom of
the file, the pure steps it is made of come first.
"""
