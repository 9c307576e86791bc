"""Share what all window engines need: rows as elements, slices, segments, and the rows that come out."""
