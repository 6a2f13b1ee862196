// Requests: the exact body of a call, joined of the pieces that calls share.
