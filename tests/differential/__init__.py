"""The same question asked twice must have the same answer: as a stream and as a batch, by one window and another."""
