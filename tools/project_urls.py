"""Writes where the project is into what a release is built of: the release knows its repository, the sources do not.

    python3 tools/project_urls.py https://github.com/OWNER/NAME

`[project.urls]` goes into pyproject.toml, and links of README.md, which is the page of the package on PyPI, lead into the
repository as it is under the release's tag. .github/workflows/release.yml runs it before it builds; nothing of it is committed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

REPOSITORY = re.compile(r"https://[\w.-]+(?::\d+)?/[\w.-]+/[\w.-]+")
# Links within the repository, and whether they are pictures.
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#)([^)\s]+)\)")


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or not REPOSITORY.fullmatch(arguments[0]):
        sys.exit(f"given {' '.join(arguments) or 'nothing'}, expected the address of a repository: https://github.com/OWNER/NAME")
    (repository,) = arguments
    project = ROOT / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    if "urls" in tomllib.loads(text)["project"]:
        sys.exit("pyproject.toml has [project.urls] already; they are written once, into a fresh checkout")
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    urls = {
        "Source": repository,
        "Documentation": f"{repository}/blob/v{version}/docs/index.md",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    lines = [f'{name} = "{address}"\n' for name, address in urls.items()]
    project.write_text(f"{text}\n[project.urls]\n{''.join(lines)}", encoding="utf-8", newline="\n")
    readme = ROOT / "README.md"
    page = LINK.sub(
        lambda link: f"{link[1]}{link[2]}({repository}/{'raw' if link[1] else 'blob'}/v{version}/{link[3]})",
        readme.read_text(encoding="utf-8"),
    )
    readme.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
