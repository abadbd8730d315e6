"""Model files: reading and writing them in the safetensors format, and models as plain JSON.

Loading a file executes no code.
"""
