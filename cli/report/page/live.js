// The live log: data from the server that serves the page, and what is new in it.
