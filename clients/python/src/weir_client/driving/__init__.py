"""What the rules ask of the world outside, and who does it: threads, or tasks of asyncio."""
