"""Records a distributed cluster, of which nothing is asked but a `Client`."""

from .source import ClusterSource

__all__ = ["ClusterSource"]
