"""What each strategy would have cost, thrown away, and missed later; measured call by call."""
