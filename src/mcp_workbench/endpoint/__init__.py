"""What a client can ask, and who answers. How questions arrive and answers leave is the transport's."""
