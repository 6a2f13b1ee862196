// What the tokens went to: the biggest contributors.
