"""Plug-ins on the disk: their manifests, their files and where they are found."""
