// The prefix of each request: what a cache could have had, and what broke it.
