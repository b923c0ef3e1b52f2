"""What pods lack for the plugins that look at other pods, at volumes and at devices.

Loaded when somebody asks why a pod is not scheduled. Each change is tried before it is proposed, so
what is said here need not be more than a good guess.
"""
