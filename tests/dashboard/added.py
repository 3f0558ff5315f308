"""Files before the first page is drawn: what is shown without files is not what their tests are about."""

from pathlib import Path

import pytest

from dashboard import session


def before_the_first_page(app):
    """Run an app that has not run so far that its sidebar is there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "sample_paths", lambda: [Path("no sample")])
        app.run()
    assert not app.exception


def add(app, files):
    """Put ``files`` (name, bytes, type) into the uploader of an app that has not run; the next run shows them."""
    before_the_first_page(app)
    app.file_uploader[0].set_value(list(files))
