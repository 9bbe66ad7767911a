"""Pins: tool definitions as they were accepted, and what has become of them. Offering is for the servers."""
