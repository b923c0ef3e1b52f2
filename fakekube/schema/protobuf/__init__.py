"""Objects as Go clients like to send and get them: protobuf in the Kubernetes envelope.

Read ``codec.py`` first.
"""
