"""How `make docs` builds the site: pages are MyST Markdown, and what a tutorial shows is computed while it is built."""

project = "Tailback"
extensions = ["myst_nb"]
html_theme = "furo"
html_title = "Tailback"
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_execution_show_tb = True
