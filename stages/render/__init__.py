"""What people read: progress, metrics columns, the Markdown report. Knows no statistics and no room."""

from stages.render.imported import imported_markdown
from stages.render.markdown import markdown
from stages.render.metrics import flat_metrics
from stages.render.progress import progress

__all__ = ["flat_metrics", "imported_markdown", "markdown", "progress"]
