"""Add our stream operators to a script: their input by places, their output by names."""
