"""The audit of a session: what each call was given and was not, and what is wrong with it."""
