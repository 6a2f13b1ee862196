"""Frameworks whose agents are recorded from within. Each module needs its framework installed."""
