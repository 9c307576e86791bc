"""Trigger cases recorded from Beam and Flink, on the window engine without Spark."""
