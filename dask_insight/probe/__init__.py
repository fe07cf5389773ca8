"""What travels to schedulers and workers.

Every module here but `ship` is sent as source text and runs under a name that
carries the hash of all of them, so a cluster needs no installation. They may
import the standard library, distributed, msgpack and psutil, and each other by
relative import; nothing else of dask_insight.
"""
