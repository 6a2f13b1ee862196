"""What passes between an agent and its provider: requests, answers, and which belong together."""
