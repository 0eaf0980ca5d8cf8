"""What Halocline claims about speed, as programs. `python -m benchmarks.run` measures; README.md tells the method."""
