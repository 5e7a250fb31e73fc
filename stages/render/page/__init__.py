"""`report.html`: the decision as one page that opens from the disk, with every figure drawn inside of it."""

from stages.render.page.page import html_page

__all__ = ["html_page"]
