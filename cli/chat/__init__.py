"""``ctxlog chat``: a live conversation in a terminal, or over a pipe."""
