"""Layouts of the rows that the scheduler packs, which the reader's side has from here too."""

LAYOUTS = {
    "graph": "task:I group:I submission:I priority:f order:I state:B",
    "edges": "task:I dependency:I",
    # Workers have codes, their threads have none: each new worker brings new ones.
    "attempts": "run:I task:I worker:I thread:Q status:B type:H done:d stop:d start:d assigned:d ready:d"
    " nbytes:d",
    "phases": "run:I worker:I action:B start:d stop:d",
    "releases": "task:I time:d",
    "memory": "worker:I time:d process:d managed:d unmanaged_old:d unmanaged_recent:d spilled:d optimistic:d"
    " processing:I occupancy:d",
    "gauges": "worker:I name:I time:d value:d",
}
