"""Lines of a TCP socket: ``'connector' = 'socket'``."""
