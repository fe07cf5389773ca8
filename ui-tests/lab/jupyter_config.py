"""A JupyterLab for the browser tests: nothing of the person's own, nothing asked of the network.

`LAB_FOLDER` is a folder that whoever starts it made and takes away. The server ends when its
standard input does, so that it never outlives them, however they end.
"""

import os
import signal
import sys
import threading
from pathlib import Path

folder = Path(os.environ["LAB_FOLDER"])
c = get_config()  # type: ignore[name-defined]  # noqa: F821
c.ServerApp.ip = "127.0.0.1"
c.ServerApp.port = int(os.environ["LAB_PORT"])
c.ServerApp.port_retries = 20
# As on a JupyterHub.
c.ServerApp.base_url = "/user/ada@example.org/"
c.ServerApp.open_browser = False
c.ServerApp.allow_root = True
c.ServerApp.root_dir = str(folder / "notebooks")
c.ServerApp.disable_check_xsrf = True
c.ServerApp.terminals_enabled = False
c.IdentityProvider.token = ""
c.LabServerApp.workspaces_dir = str(folder / "workspaces")
c.LabServerApp.user_settings_dir = str(folder / "settings")
c.LabServerApp.extra_labextensions_path = [str(folder / "labextensions")]
c.LabApp.expose_app_in_browser = c.JupyterNotebookApp.expose_app_in_browser = True
c.LabApp.news_url = None
c.LabApp.check_for_updates_class = "jupyterlab.NeverCheckForUpdate"
c.LabApp.extension_manager = "readonly"


def end_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


threading.Thread(target=end_with_parent, daemon=True, name="end-with-parent").start()
