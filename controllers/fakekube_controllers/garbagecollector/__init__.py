"""The garbage collector: what is owned by nothing that exists is deleted.

Read ``graph.py`` first (who owns whom, touched by the informers' handlers only), then ``collector.py`` (what is done about it).
Upstream: pkg/controller/garbagecollector.
"""

from functools import partial

from fakekube.runtime.lazy import OWNED, LazyController

component = partial(
    LazyController, "garbagecollector", "fakekube_controllers.garbagecollector.collector:GarbageCollector", OWNED)
