"""The papers' experiments, repeated: ours beside the printed value [METHODS, Sec. 9].

python -m benchmarks.reproduce [name … | --all | --quick | --list | --docs]
"""
