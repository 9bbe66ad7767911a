"""Where tools come from: one interface, several kinds."""
