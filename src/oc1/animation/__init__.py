"""The search at one node as a page that can be played, stepped through and kept.

In go training data, the path of a node and the parameters of a classifier; out comes a self-contained HTML page.
`oc1.animation.recording.record_search` records the search, `oc1.animation.page.write_page` writes the page.
"""
