"""What writes the log with knowledge of its meaning: importers of other agents' transcripts."""
