// Search in all texts of a session.
