"""The kinds that Kueue has an integration for, a package each. Upstream: pkg/controller/jobs."""
