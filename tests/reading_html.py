"""HTML, read back."""

from html.parser import HTMLParser


class Tags(HTMLParser):
    """Collects the tags of a page, and complains of those that are not closed."""

    VOID = ("meta", "input", "br")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


class Rows(HTMLParser):
    """The texts of a table's cells, row by row, and which rows are marked."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.marked, self.inside = [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
            self.marked.append(dict(attributes).get("class") == "best")
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, text):
        if self.inside:
            self.rows[-1][-1] += text
