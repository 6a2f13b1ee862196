// What proves the log, and how well each call is known.
