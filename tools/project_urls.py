"""Adds the repository's address to the sources of a release; the sources themselves do not contain it.

    python3 tools/project_urls.py https://github.com/OWNER/NAME

This writes `[project.urls]` to pyproject.toml, papers/pyproject.toml and stacks/pyproject.toml, and `repository` to the
manifests of published crates. It changes links of README.md, which is the package's page on PyPI, and of CHANGELOG.md, the notes
of the release, to refer to the repository at the release's tag. The workflows run this before a build; the changes are not
committed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

REPOSITORY = re.compile(r"https://[\w.-]+(?::\d+)?/[\w.-]+/[\w.-]+")
# Links within the repository; the first group is `!` for pictures.
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#)([^)\s]+)\)")


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or not REPOSITORY.fullmatch(arguments[0]):
        sys.exit(f"given {' '.join(arguments) or 'nothing'}, expected the address of a repository: https://github.com/OWNER/NAME")
    (repository,) = arguments
    paths = [ROOT / folder / "pyproject.toml" for folder in (".", "papers", "stacks")]
    projects = {path: path.read_text(encoding="utf-8") for path in paths}
    if any("urls" in tomllib.loads(text)["project"] for text in projects.values()):
        sys.exit("pyproject.toml already has [project.urls]; run this in a fresh checkout")
    version = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
    urls = {
        "Source": repository,
        "Documentation": f"{repository}/blob/v{version}/docs/index.md",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    lines = [f'{name} = "{address}"\n' for name, address in urls.items()]
    for path, text in projects.items():
        path.write_text(f"{text}\n[project.urls]\n{''.join(lines)}", encoding="utf-8", newline="\n")
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        text = manifest.read_text(encoding="utf-8")
        text = text.replace("\npublish = true\n", f'\npublish = true\nrepository = "{repository}"\n')
        manifest.write_text(text, encoding="utf-8", newline="\n")

    def absolute(link: re.Match[str]) -> str:
        # On GitHub, `../../` in a file of the top folder is the address of the repository, which its badges use.
        inside = f"{'raw' if link[1] else 'blob'}/v{version}/{link[3]}"
        return f"{link[1]}{link[2]}({repository}/{link[3].removeprefix('../../') if link[3].startswith('../../') else inside})"

    for page in (ROOT / "README.md", ROOT / "CHANGELOG.md"):
        page.write_text(LINK.sub(absolute, page.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
