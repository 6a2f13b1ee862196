"""The report: a session as one page."""
