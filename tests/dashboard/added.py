"""Files in the uploader before the first page is drawn: what is shown without files is not what their tests are about."""

from pathlib import Path

import pytest

from dashboard import session


def add(app, files):
    """Put ``files`` (name, bytes, type) into the uploader of an app that has not run; the next run shows them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "sample_paths", lambda: [Path("no sample")])
        app.run()
    assert not app.exception
    app.file_uploader[0].set_value(list(files))
