// A compaction: the context before it and after it, and what was lost.
