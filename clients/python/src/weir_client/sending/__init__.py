"""Records on their way: read, cut into requests, sent, and answered."""
