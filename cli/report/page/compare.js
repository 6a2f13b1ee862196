// Strategies side by side: what each would have sent, cost and lost.
