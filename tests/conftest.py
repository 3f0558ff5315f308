"""What the whole suite shares: property tests draw the same examples on every machine, and the command line runs in this process."""

import pytest
from hypothesis import settings

from calibcore import cli

settings.register_profile("calibcore", deadline=None, derandomize=True, database=None, max_examples=50)
settings.load_profile("calibcore")


@pytest.fixture
def run(capsys):
    """Run the command line in this process: (exit code, stdout, stderr); no fault of the program itself."""

    def call(*argv):
        code = cli.main([str(a) for a in argv])
        out = capsys.readouterr()
        assert "has failed" not in out.err
        assert "Traceback" not in out.err
        return code, out.out, out.err

    return call
