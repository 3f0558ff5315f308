"""A server compiles a page once; the app under test would at each of its runs, which is most of what a run without charts takes."""

import pytest
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import app_test, local_script_runner


@pytest.fixture(scope="session", autouse=True)
def scripts_are_compiled_once():
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        for module in (app_test, local_script_runner):
            patch.setattr(module, "ScriptCache", lambda: compiled)
        yield
