"""Whether the wheels in two folders hold the same files, and say the same about themselves."""

import email
import glob
import re
import sys
import zipfile


def told(folder):
    (path,) = glob.glob(f"{folder}/*.whl")
    with zipfile.ZipFile(path) as wheel:
        assert wheel.testzip() is None
        files = {name: wheel.read(name) for name in wheel.namelist()}
    about = email.message_from_bytes(next(text for name, text in files.items() if name.endswith("METADATA")))
    names = ("Name", "Version", "Summary", "License-Expression", "Requires-Python", "Requires-Dist", "Provides-Extra")
    # Bounds of a version may stand in any order.
    said = {name: sorted(sorted(re.findall(r"[<>=]+[\d.]+|[^<>=,\s\"']+", each)) for each in about.get_all(name, [])) for name in names}
    return {name: text for name, text in files.items() if ".dist-info/" not in name}, sorted(files), said


ours, theirs = told(sys.argv[1]), told(sys.argv[2])
different = [(one, other) for one, other in zip(ours, theirs) if one != other]
print("the same" if not different else different)
