"""Measurements beside the limit: ``python -m bench``."""
