"""What distributed's system monitor calls its measures."""

from __future__ import annotations

#: Columns of `resources` by the name that the monitor has for them.
MEASURES = {
    "cpu": "cpu",
    "memory": "memory",
    "net_read": "host_net_io.read_bps",
    "net_write": "host_net_io.write_bps",
    "disk_read": "host_disk_io.read_bps",
    "disk_write": "host_disk_io.write_bps",
    "fds": "num_fds",
    "gil": "gil_contention",
}
