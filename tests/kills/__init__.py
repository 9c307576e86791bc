"""Kill real jobs (kill -9), let the next driver go on, and compare what came out with plain Python.

    python -m tests.kills --kills 100 --seed 1        (or: make kills KILLS=100 SEED=1)

Each kind of job gets its share of the kills. Half of the drivers die at one of their writes, which is chosen: of a
sink, of a checkpoint, of the catalog, or at a step of a transaction in a worker. The others die at a random moment
while a batch is open. A driver dies by itself, or with its JVM, as a machine dies. Between two kills, and amid a run,
more rows come and files are written once more. The seed decides rows, files, writes and moments. What a moment meets
is up to the machine. A table of what was killed where is printed.
"""
