"""Which nodes still live, what their taints say of it, and their pods. Read ``controller.py``, then ``health.py``."""
