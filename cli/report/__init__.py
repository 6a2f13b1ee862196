"""The report: a page that shows sessions as pictures, as one file or over the live log."""
