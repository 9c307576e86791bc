"""Provide real data for the demo: flights that left New York in 2013, in order of departure."""
