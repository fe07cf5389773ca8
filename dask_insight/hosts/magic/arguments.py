"""What stands behind ``%%dprofile`` and ``%dprofile``."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from IPython.core.error import UsageError

from ...errors import CommandError
from ..cli.files import apart, unnamed_file, writable
from ..runs import runs
from ..widget.panels import known_panel

if TYPE_CHECKING:
    from ...recording import Recording

_DESCRIPTION = "Run code and show what Dask did."
_EPILOG = """\
On a cell, `%%dprofile [NAME] [options]` runs the cell as if it were not
there and shows the report under it. On a line, `%dprofile [options] CODE`
does so with one line of code; without code it shows the last run again.

The run stays in the variable `_dprofile`, and by its name in
`dask_insight.runs`; `--compare NAME` compares with one of these.
"""
#: The option whose value is an expression.
_CLIENT = "--client"
#: Something that quotes enclose.
_ENCLOSED = re.compile(r""""[^"]*"|'[^']*'""")
#: By what a quote, or a blank, is an ordinary sign; Windows needs its backslashes.
_ESCAPE = "" if os.name == "nt" else "\\"


class _Parser(argparse.ArgumentParser):
    """A parser that does not end the process."""

    color: bool

    def error(self, message: str) -> NoReturn:
        """Say what is wrong."""
        raise UsageError(message)


class Arguments(argparse.Namespace):
    """What a person asked for."""

    name: str | None
    output: Path | None
    html: Path | None
    profile: bool
    source: bool
    resources: str
    client: str | None
    panel: str | None
    static: bool
    compare: str | None
    #: The run that `compare` names; an earlier one, also where the new one takes its name.
    baseline: Recording | None
    code: str


def parser(*, line: bool) -> argparse.ArgumentParser:
    """The arguments of the line magic, or of the cell magic."""
    prog = "%dprofile" if line else "%%dprofile"
    made = _Parser(
        prog,
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    # Notebooks show the help as text: from Python 3.14 on, it might have colours for a terminal.
    made.color = False
    if line:
        made.add_argument("--name", metavar="NAME", help="What to call the run.")
    else:
        made.add_argument("name", metavar="NAME", nargs="?", help="What to call the run.")
    made.add_argument("-o", "--output", metavar="FILE", help="Write the recording to this file as it goes.")
    made.add_argument("--html", metavar="FILE", help="Write the whole report to this file, too.")
    made.add_argument("--no-profile", dest="profile", action="store_false", help="Take no call stacks.")
    made.add_argument(
        "--no-source",
        dest="source",
        action="store_false",
        help="Keep no source code, only where it stands.",
    )
    made.add_argument(
        "--resources",
        metavar="DT",
        default="200ms",
        help="Time between two looks at CPU, memory, network and disk, as 500ms (default 200ms).",
    )
    made.add_argument(
        _CLIENT, metavar="EXPR", help="Record only the cluster of this client, and nothing local."
    )
    made.add_argument(
        "--open", dest="panel", metavar="PANEL", help="Open this panel in JupyterLab: task-stream, memory …"
    )
    made.add_argument("--compare", metavar="NAME", help="Say what differs from the run kept under this name.")
    made.add_argument(
        "--static", action="store_true", help="Leave a picture and a table only, which any viewer shows."
    )
    if line:
        made.add_argument("code", metavar="CODE", nargs=argparse.REMAINDER, help="The code to run.")
    return made


def parse(text: str, code: str | None = None) -> Arguments:
    """Read the arguments.

    Parameters
    ----------
    text
        What stands before the code.
    code
        The code of a line; None for a cell.

    Raises
    ------
    UsageError
        If they are not understood, or a file cannot be written.
    """
    line = code is not None
    magic = "%dprofile" if line else "%%dprofile"
    try:
        given = parser(line=line).parse_args(words_of(text), Arguments())
        if line and given.code:
            raise UsageError(f"unrecognized arguments: {' '.join(given.code)}")
        if unnamed := unnamed_file(given):
            raise UsageError(unnamed)
    except (UsageError, ValueError, argparse.ArgumentError) as error:
        raise UsageError(f"{magic}: {error}. See {magic}? for help.") from None
    given.code = code or ""
    try:
        given.output = writable(given.output, grows=True) if given.output else None
        given.html = writable(given.html, text=True) if given.html else None
        apart(given.output, given.html)
        given.panel = known_panel(given.panel)
        given.baseline = None if given.compare is None else runs[given.compare]
    except (CommandError, ValueError) as error:
        told = str(error).removesuffix(", or use --force")
        raise UsageError(f"{magic}: {told}") from None
    except KeyError as error:
        raise UsageError(f"{magic}: --compare: {error.args[0]}. See {magic}? for help.") from None
    return given


def words_of(text: str, escape: str = _ESCAPE) -> list[str]:
    """The words of a line, of which quotes of either kind hold some together; those of an expression stay.

    Raises
    ------
    ValueError
        If a quote is not closed.
    """
    words: list[str] = []
    while text := text.lstrip():
        word, text = _first_word(text, escape)
        if word.startswith(f"{_CLIENT}="):
            words.append(_CLIENT)
            word = word.removeprefix(f"{_CLIENT}=")
        is_expression = words[-1:] == [_CLIENT] and not _ENCLOSED.fullmatch(word)
        words += [word] if is_expression else _without_quotes(word, escape)
    return words


def _without_quotes(text: str, escape: str) -> list[str]:
    found = shlex.shlex(text, posix=True, punctuation_chars=False)
    found.whitespace_split, found.commenters, found.escape = True, "", escape
    return list(found)


def before_code(text: str) -> tuple[str, str]:
    """A line, taken apart where the options end and the code begins, which keeps its quotes and spaces."""
    valued = {"--name", "-o", "--output", "--html", "--resources", _CLIENT, "--open", "--compare"}
    rest = text.lstrip()
    options: list[str] = []
    while rest.startswith("-") and rest[1:2] not in ("", " ") and not rest[1:2].isdigit():
        word, rest = _first_word(rest)
        options.append(word)
        if word == "--":
            options.pop()
            break
        if word in valued and rest:
            word, rest = _first_word(rest)
            options.append(word)
    return " ".join(options), rest


def _first_word(text: str, escape: str = _ESCAPE) -> tuple[str, str]:
    """The first word as it stands, quotes, braces and all, and what follows it."""
    quote, braces, is_escaped = "", 0, False
    for place, sign in enumerate(text):
        if is_escaped or (sign == escape and quote != "'"):
            is_escaped = not is_escaped
        elif quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "{}":
            braces += 1 if sign == "{" else -1
        elif sign.isspace() and braces <= 0:
            return text[:place], text[place:].lstrip()
    return text, ""


def client_of(expression: str | None, namespace: dict[str, Any]) -> Any:
    """The client that an expression in the user's namespace names; None without an expression.

    Raises
    ------
    UsageError
        If it cannot be evaluated, or is no client.
    """
    if expression is None:
        return None
    try:
        client = eval(expression, namespace)
    except Exception as error:
        raise UsageError(f"--client {expression}: {type(error).__name__}: {error}") from None
    from distributed import Client

    if not isinstance(client, Client):
        raise UsageError(
            f"--client {expression}: a {type(client).__name__} is no distributed.Client; name a variable "
            "that holds one, as --client client"
        )
    return client
