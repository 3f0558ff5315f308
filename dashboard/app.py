"""Entry of the dashboard: frame, sidebar and pages."""

from __future__ import annotations

import streamlit as st

from dashboard import session, widgets
from dashboard.sidebar import sidebar
from dashboard.theme import style

st.set_page_config(page_title="Calibration", page_icon="📐", layout="wide")
style()
page = st.navigation(
    [
        st.Page("views/overview.py", title="Overview", default=True),
        st.Page("views/compare.py", title="Compare", url_path="compare"),
        st.Page("views/bins.py", title="Bins and rows", url_path="bins"),
        st.Page("views/groups.py", title="Groups and classes", url_path="groups"),
        st.Page("views/fix.py", title="Fix", url_path="fix"),
        st.Page("views/act.py", title="Act", url_path="act"),
        st.Page("views/report.py", title="Report", url_path="report"),
        st.Page("views/learn.py", title="Learn", url_path="learn"),
    ],
    position="top",
)
with session.state().downloads.run():
    # Before the page: an uploader inside a page loses its files when the page changes.
    sidebar()
    if session.models() or page.url_path == "learn":  # which needs none
        page.run()
    else:
        st.title("No model to show yet")
        widgets.text("No file could be read so far. See the sidebar for what each needs.")
        st.page_link("views/learn.py", label="Meanwhile: learn how to read the page", icon=":material/arrow_forward:")
