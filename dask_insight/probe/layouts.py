"""Layouts of the rows that the scheduler packs; the reader's side names their fields, in the same order."""

LAYOUTS = {
    "graph": "IIIfIB",  # task, group, submission, priority, order, state
    "edges": "II",  # task, dependency
    "attempts": "IIIBHdddddd",  # run, task, thread, status, type, done, stop, start, assigned, ready, nbytes
    "phases": "IIBdd",  # run, worker, action, start, stop
    "releases": "Id",  # task, time
    "memory": "IdddddddId",  # worker, time, Dask's six measures, tasks processing, occupancy
    "gauges": "IIdd",  # worker, name, time, value
}
