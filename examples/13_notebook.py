"""Work in a notebook: each `# %%` is a cell, as in Jupyter or VS Code. Ctrl-C (or Stop) gives the prompt back."""

# %%
import halocline

done = halocline.run_sync("What does stats.py compute?", mode="plan")
print(done.text)

# %%
try:
    print(halocline.run_sync("Compute its median instead.", approval_mode="accept-edits").text)
except KeyboardInterrupt:
    print("Stopped.")
