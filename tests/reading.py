"""Reports as a reader finds them: their text, and that their tags are balanced."""

import datetime as dt
from html.parser import HTMLParser

from rebelboost.evaluation.evaluate import evaluate
from rebelboost.report import write_report

DAY = dt.date(2026, 11, 16)
VOID = {"meta"}


class Page(HTMLParser):
    """Checks that tags are balanced, and collects what they hold."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.texts = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split()).replace("“ ", "“").replace(" ”", "”")


def reported(tmp_path, clf, X, y, **given):
    given = {"evaluation": evaluate(clf, X, y), "date": DAY, **given}
    path = write_report(clf, X, y, tmp_path / "report.html", **given)
    return path.read_text(encoding="utf-8")
