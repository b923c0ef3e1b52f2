"""What tests use: clusters in the background, fixtures. Read ``background.py`` first."""
