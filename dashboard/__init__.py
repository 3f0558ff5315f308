"""The dashboard: Streamlit pages over the results of `calibcore`; they format and lay out, and compute nothing."""
