"""A recorded toolbox, served again without its servers. Recording is the journal's."""
