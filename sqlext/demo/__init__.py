"""Real data for the demo: the flights that left New York in 2013, in the order in which they left."""
