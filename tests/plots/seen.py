"""What a chart shows, read back from its Axes."""

from itertools import combinations

from matplotlib.text import Text  # an annotation's own extent would take in its line
from matplotlib.transforms import Bbox


def drawn(ax, gid):
    """Artists of one kind."""
    found = [artist for artist in ax.get_children() if artist.get_gid() == gid]
    return found + [text for text in ax.texts if text.get_gid() == gid and text not in found]


def words(ax):
    """Every visible text of a chart with its place, settled as it would be saved."""
    paper = ax.get_figure(root=True)
    paper.draw_without_rendering()
    texts = [*ax.texts, ax.title, ax._left_title, ax.xaxis.label, ax.yaxis.label]
    ticks = [*ax.xaxis._update_ticks(), *ax.yaxis._update_ticks()] if ax.axison else []
    texts += [tick.label1 for tick in ticks]
    texts += [ax.xaxis.get_offset_text()] if ax.axison else []
    texts += list(ax.get_legend().get_texts()) if ax.get_legend() else []
    texts += [text for part in ax.child_axes if part.axison for text in words(part)]
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def overlapping(texts):
    """Pairs of upright texts that cover one another by more than a pixel."""
    boxes = [(text.get_text(), Text.get_window_extent(text)) for text in texts if not text.get_rotation() % 90]
    return [
        (one, other)
        for (one, a), (other, b) in combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]


def outside_of_the_figure(ax, texts):
    """Texts that reach over the figure's edge."""
    paper = ax.get_figure(root=True).bbox.padded(1)
    extents = [(text.get_text(), Text.get_window_extent(text)) for text in texts]
    return [word for word, box in extents if Bbox.union([paper, box]).bounds != paper.bounds]


def subtitle(ax):
    """The line under the title."""
    return " ".join(drawn(ax, "subtitle")[0].get_text().split())
