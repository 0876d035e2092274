"""Runs docs/guides/python.ipynb as a notebook server would, and looks at what it would save."""

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "docs" / "guides" / "python.ipynb"


def executed(cells, folder):
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    return client.execute()


def outputs(notebook):
    return [(cell.source, output) for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]


def test_the_notebook_of_the_guide_runs_and_can_be_passed_on(tmp_path):
    source = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in source.cells), "it is kept without outputs"
    shown = outputs(executed(source.cells, tmp_path))
    pages = [output.data for _, output in shown if "data" in output and "text/html" in output.data]
    ours = [page for page in pages if 'class="kohort"' in page["text/html"]]
    assert len(ours) == 4, "a risk, a picture, a comparison and a release"
    for page in ours:
        html = page["text/html"]
        assert "<svg" in html and "<script" not in html and "src=" not in html
        assert not re.search(r"https?://(?!www\.w3\.org)", html)
        assert page["text/plain"].startswith("<kohort ")
    assert (tmp_path / "out" / "release" / "certificate.json").is_file()


def test_a_notebook_shows_how_far_a_call_is(tmp_path):
    from test_running import LONG

    text = LONG + "\nfrom kohort import _progress\n_progress.QUIET = 0.0\n_progress.EVERY = 0.0\n"
    text += "small = frame.head(40_000)\nrelease = kh.anonymize(small, policy)\n"
    shown = outputs(executed([nbformat.v4.new_code_cell(text)], tmp_path))
    lines = [output for _, output in shown if output.output_type in ("display_data", "update_display_data")]
    assert lines, "a line below the cell"
    assert lines[-1].data["text/plain"] == "", "and it is cleared at the end"
