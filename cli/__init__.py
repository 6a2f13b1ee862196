"""The command line: talks to a person, and to nobody else."""
