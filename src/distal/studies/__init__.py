"""The paper: its experiments, the study of its readings, figures and reports."""
