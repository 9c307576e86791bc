"""Read and prepare the input of our operators by Arrow, where it computes exactly what Spark would."""
