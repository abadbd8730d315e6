"""One part of spread rows, in this process: what it costs to make it again, and what many would cost.

python benchmarks/one_part.py --only remaking   what it costs to make a lost part again
python benchmarks/one_part.py --only paper      10⁹ rows on 100 workers, computed from a small part
"""

import argparse
import pickle
import time

import numpy as np

from on_cluster import table
from rebelboost import RebelClassifier, Tree
from rebelboost.distributed.training import GivenRows, fit_rows
from rebelboost.rows.base import Log, MemoryRows
from rebelboost.rows.block import Block, Raw


class Logging(MemoryRows):
    """One part in memory, and the commands by which it could be made again."""

    def __init__(self, raw):
        super().__init__([Block(0, lambda: raw)])
        self.raw, self.log = raw, Log()

    def ask(self, command):
        answer = super().ask(command)
        self.log.note(command)
        return answer

    def remade(self):
        """Processor seconds that it takes to make the part again, and bytes of the commands."""
        commands = pickle.dumps(self.log.operations)
        began = time.process_time()
        part = Block(0, lambda: self.raw)
        for operation in pickle.loads(commands):
            operation.apply(part)
        return time.process_time() - began, len(commands)


def remaking(n_rows=200_000):
    """What it costs to make a lost part again, after more and more rounds."""
    spread = Logging(Raw(*table(n_rows, 50, 5)))
    began = time.process_time()
    at = (1, 64, 127, 128, 191, 192, 256)
    in_between = [0.0]

    class Watch:
        def on_rounds(self, batch):
            record = batch[-1]
            if record.index + 1 in at:
                now = time.process_time() - began - in_between[0]
                seconds, n_bytes = spread.remade()
                in_between[0] += seconds
                print(
                    f"after {record.index + 1:3} rounds, which took {now:5.2f} s of processor with all "
                    f"before them: made again in {seconds:.2f} s, by {n_bytes / 1e6:.1f} MB of commands",
                    flush=True,
                )
            return False

        def on_end(self):
            pass

    model = RebelClassifier(Tree(), n_rounds=max(at), cross_fit=None, callbacks=[Watch()])
    fit_rows(model, GivenRows(spread))


class Counting(MemoryRows):
    """One part in memory; counts the bytes that its answers would take on the way."""

    n_bytes = n_asked = 0

    def ask(self, command):
        answer = super().ask(command)
        if isinstance(answer, tuple):
            self.n_bytes += sum(np.asarray(item).nbytes for item in answer)
        self.n_asked += 1
        return answer


def paper(n_rows=10**9, n_workers=100, gigabit=10):
    """10⁹ rows on 100 workers, from what a part of 200,000 rows takes here on one thread."""
    here, n_features, n_rounds = 200_000, 50, 6
    X, y = table(here, n_features, 5)
    raw = Raw(X, y)
    spread = Counting([Block(0, lambda: raw)])
    began = []

    class Begin:
        def on_rounds(self, batch):
            record = batch[-1]
            del record
            began.append((time.process_time(), spread.n_bytes, spread.n_asked))
            return False

        def on_end(self):
            pass

    model = RebelClassifier(Tree(), n_rounds=n_rounds, cross_fit=None, callbacks=[Begin()])
    fit_rows(model, GivenRows(spread))
    (first, last) = np.array(began)[[0, -1]]
    seconds, n_bytes, n_asked = (last - first) / (n_rounds - 1)
    work = seconds / here * n_rows / n_workers
    all_bytes = n_bytes * n_workers
    # Through the scheduler: in and out; then the client reads them.
    way = 2 * all_bytes * 8 / (gigabit * 1e9)
    print(
        f"{n_asked:.0f} questions and {n_bytes / 1e6:.1f} MB of answers a round from each worker; "
        f"{1e9 * seconds / here:.0f} ns of processor a row and round, {n_features} features, 5 classes"
    )
    print(
        f"{n_rows:.0e} rows on {n_workers} workers: {work:.1f} s of work a round on one thread each, "
        f"{all_bytes / 1e6:.0f} MB through the scheduler, {way:.2f} s at {gigabit} Gbit/s; bins, scores and "
        f"weights of a worker {n_rows / n_workers * (64 + 2 * 5 * 8 + 18) / 1e9:.1f} GB"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=["remaking", "paper"])
    given = parser.parse_args()
    for name, run in {"remaking": remaking, "paper": paper}.items():
        if given.only in (None, name):
            run()


if __name__ == "__main__":
    main()
