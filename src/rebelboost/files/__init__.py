"""Model files in the safetensors format, and models as plain JSON.

Loading a file executes no code.
"""
