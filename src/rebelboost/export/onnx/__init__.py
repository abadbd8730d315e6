"""A model as an ONNX graph, which computes in double precision and in the order of Python."""
