"""The workbench beside real servers and real clients, with the official SDK as the judge."""
