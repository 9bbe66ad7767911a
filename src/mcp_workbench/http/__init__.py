"""The workbench over Streamable HTTP, for many clients of both eras at once. Imported for that alone."""
