"""Reports as HTML, for notebooks."""

from html import escape


def table(header, lines, notes=(), worst=None):
    """A table whose first column names the lines, with notes below; the line ``worst`` is bold."""

    def row(cells, name, tag="td"):
        first = f'<{name} style="text-align:left">{escape(cells[0])}</{name}>'
        rest = (f'<{tag} style="text-align:right">{escape(c)}</{tag}>' for c in cells[1:])
        return first + "".join(rest)

    bold = ' style="font-weight:bold"'
    body = "".join(
        f"<tr{bold if at == worst else ''}>{row(line, 'th')}</tr>" for at, line in enumerate(lines)
    )
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    head = f"<thead><tr>{row(header, 'th', 'th')}</tr></thead>"
    return f"<table>{head}<tbody>{body}</tbody></table>{below}"


def sentences(lines):
    """Lines as paragraphs, the first of which is bold."""
    first, *rest = (escape(line) for line in lines)
    return f"<p><strong>{first}</strong></p>" + "".join(f"<p>{line}</p>" for line in rest)
