"""The command line: what people type. Serving stdio needs none of it."""
