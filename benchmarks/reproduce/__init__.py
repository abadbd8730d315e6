"""The papers' experiments, repeated: what their texts state, beside what their algorithms do here.

python -m benchmarks.reproduce [name … | --all | --quick | --list | --docs]
python -m benchmarks.reproduce.quotes
"""
