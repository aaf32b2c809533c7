"""Picks the faces that travel in the binary and cuts them down; run by fonts.sh."""

import io
import pathlib
import sys
import zipfile

from fontTools import subset
from fontTools.ttLib import TTFont

work, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
expo = work / "node_modules" / "@expo-google-fonts"

STYLES = {400: "Regular", 500: "Medium", 600: "SemiBold", 700: "Bold", 900: "Black"}
TEXT = ["400", "400i", "700", "700i"]

# A family with a Reserved Font Name (the second list) may not be changed under
# its name, so its files go out as they came. "Bitter Pro" is reserved, which
# the family Bitter is not called.
CUT = {
    "inter": TEXT + ["600"], "atkinson-hyperlegible": TEXT, "nunito": TEXT, "work-sans": TEXT + ["600"],
    "eb-garamond": TEXT, "literata": TEXT, "bitter": TEXT,
    "jetbrains-mono": TEXT, "courier-prime": TEXT,
    "fraunces": TEXT + ["600"], "space-grotesk": ["400", "500", "700"],
    "cinzel": ["400", "700"], "cormorant-garamond": ["500", "500i", "700"],
    "comic-neue": TEXT, "zilla-slab": ["400", "400i", "700"], "vt323": ["400"],
    "special-elite": ["400"],
}
WHOLE = {
    "source-sans-3": TEXT + ["600"], "ibm-plex-sans": TEXT, "source-serif-4": TEXT, "lora": TEXT, "ibm-plex-mono": TEXT,
    "playfair-display": ["400", "400i", "700"], "orbitron": ["500", "700", "900"], "josefin-sans": ["400", "400i", "700"],
    "quicksand": ["500", "700"], "creepster": ["400"], "dancing-script": ["400", "700"], "righteous": ["400"],
}

# Latin with Vietnamese, Greek, Cyrillic, and the signs of prose.
TEXT_RANGES = [
    (0x0000, 0x017F), (0x018F, 0x018F), (0x0192, 0x0192), (0x01A0, 0x01A1), (0x01AF, 0x01B0), (0x01CD, 0x01DC),
    (0x01E6, 0x01E7), (0x01FA, 0x01FF), (0x0218, 0x021B), (0x0237, 0x0237), (0x0259, 0x0259),
    (0x02B9, 0x02DD), (0x0300, 0x0338), (0x0370, 0x03E1), (0x0400, 0x045F), (0x048A, 0x04FF),
    (0x1E80, 0x1E85), (0x1E9E, 0x1E9E), (0x1EA0, 0x1EF9),
    (0x2000, 0x206F), (0x2070, 0x20CF), (0x2100, 0x218F), (0x2190, 0x21FF),
    (0x2200, 0x2265), (0x2300, 0x23FF), (0x25A0, 0x27BF), (0xFB00, 0xFB06), (0xFEFF, 0xFEFF), (0xFFFD, 0xFFFD),
]
# The families behind `sans-serif`, `serif` and `monospace` have all the rest of
# these scripts too: they stand in for the others.
WIDE_RANGES = TEXT_RANGES + [(0x0180, 0x036F), (0x0370, 0x052F), (0x1E00, 0x1FFF), (0x2C60, 0x2C7F), (0xA640, 0xA69F), (0xA720, 0xA7FF)]
MONO_RANGES = TEXT_RANGES + [(0x2500, 0x259F), (0xE0A0, 0xE0B3)]
MATH_RANGES = [
    (0x0020, 0x007E), (0x00A0, 0x00FF), (0x0131, 0x0131), (0x0237, 0x0237), (0x02C6, 0x02DD), (0x0300, 0x0338),
    (0x0391, 0x03F6), (0x2000, 0x206F), (0x2070, 0x20FF), (0x2100, 0x214F), (0x2190, 0x23FF), (0x25A0, 0x25FF), (0x27C0, 0x27FF),
    (0x2900, 0x2AFF), (0x1D400, 0x1D7FF),
]
SYMBOLS = [
    (0x0020, 0x0020), (0x00A0, 0x00A0), (0x2022, 0x2022), (0x20E2, 0x20E3),
    (0x2190, 0x21FF), (0x2300, 0x23FF), (0x2440, 0x244A), (0x25A0, 0x27BF), (0x2B00, 0x2BFF),
]
# No `calt`: it makes arrows of "->", which nobody wrote.
FEATURES = ["kern", "liga", "clig", "ccmp", "locl", "mark", "mkmk", "rlig", "lnum", "onum", "pnum", "tnum", "frac", "sups"]
MATH_FEATURES = ["ccmp", "ss01", "ssty", "dtls", "flac", "rtlm"]
WIDE = {"inter"}
MONO = {"jetbrains-mono", "courier-prime", "vt323"}


def mend_arrow(variants):
    """Lets the long arrow's head overlap its shaft: STIX gives the head's
    connector the wrong end, and Chromium then does not stretch the arrow."""
    for construction in variants.HorizGlyphConstruction:
        parts = construction.GlyphAssembly.PartRecords if construction.GlyphAssembly else []
        for part in parts[1:]:
            if part.StartConnectorLength < variants.MinConnectorOverlap:
                part.StartConnectorLength = part.EndConnectorLength


def cut(source, target, ranges, features):
    options = subset.Options()
    options.layout_features = features
    options.name_IDs = ["*"]
    options.notdef_outline = True
    options.hinting = False  # print needs none
    options.drop_tables += ["STAT", "DSIG", "meta"]
    options.glyph_names = False
    font = subset.load_font(source, options)
    font.flavor = None
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[c for first, last in ranges for c in range(first, last + 1)])
    cutter.subset(font)
    if "MATH" in font:
        mend_arrow(font["MATH"].table.MathVariants)
    subset.save_font(font, target, options)


def face(package, name):
    weight, italic = int(name[:3]), name.endswith("i")
    found = [f for f in (expo / package).glob(f"{weight}*/*.ttf") if f.stem.endswith("_Italic") == italic]
    if len(found) != 1:
        sys.exit(f"{package} {name}: {len(found)} files")
    style = STYLES[weight] + ("Italic" if italic else "")
    family = found[0].name.split("_")[0]
    return found[0], f"{family}-{style.replace('RegularItalic', 'Italic')}.ttf", family


def license_name(family):
    return f"licenses/{family}.txt"


def collect():
    """Returns the archive's entries: name -> bytes."""
    entries = {}
    target = work / "cut.ttf"

    def add_cut(name, source, ranges, features):
        cut(source, target, ranges, features)
        entries[f"fonts/{name}"] = target.read_bytes()

    for package, faces in (CUT | WHOLE).items():
        for style in faces:
            source, name, family = face(package, style)
            if package in WHOLE:
                entries[f"fonts/{name}"] = source.read_bytes()
            else:
                add_cut(name, source, WIDE_RANGES if package in WIDE else MONO_RANGES if package in MONO else TEXT_RANGES, FEATURES)
        entries[license_name(family)] = (expo / package / "LICENSE_FONT").read_bytes()

    symbols = work / "node_modules/@fontsource/noto-sans-symbols-2"
    add_cut("NotoSansSymbols2-Regular.ttf", symbols / "files/noto-sans-symbols-2-symbols-400-normal.woff", SYMBOLS, FEATURES)
    entries[license_name("NotoSansSymbols2")] = (symbols / "LICENSE").read_bytes()

    stix = work / "pypi/ziamath/fonts/STIXTwoMath-Regular.ttf"
    add_cut("STIXTwoMath-Regular.ttf", stix, MATH_RANGES, MATH_FEATURES)
    copyright = TTFont(stix)["name"].getName(0, 3, 1, 0x409).toUnicode()
    ofl = entries[license_name("Inter")].decode()
    entries[license_name("STIXTwoMath")] = (copyright + "\n" + ofl[ofl.index("\n") + 1:]).encode()
    return entries


def write_archive(entries):
    with zipfile.ZipFile(out / "fonts.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name)  # dated 1980: the same bytes each time
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, entries[name])


def write_coverage(entries):
    """The union of all character maps, as a Go table."""
    covered = set()
    for name, data in entries.items():
        if name.endswith(".ttf"):
            covered |= set(TTFont(io.BytesIO(data), lazy=True).getBestCmap())
    covered -= set(range(0x20)) | set(range(0x7F, 0xA0))
    ranges = []
    for c in sorted(covered):
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    lines = ["// Code generated by scripts/fonts.py; DO NOT EDIT.", "", "package fonts", "", 'import "unicode"', "",
             "// coverage are the characters that some embedded face has.", "var coverage = &unicode.RangeTable{"]
    for field, kind, low, high in (("R16", "Range16", 0, 0xFFFF), ("R32", "Range32", 0x10000, 0x10FFFF)):
        lines.append(f"\t{field}: []unicode.{kind}{{")
        lines += [f"\t\t{{0x{a:04x}, 0x{b:04x}, 1}}," for a, b in ranges if low <= a <= high]
        lines.append("\t},")
    latin = sum(1 for a, b in ranges if b <= 0xFF)
    lines += [f"\tLatinOffset: {latin},", "}", ""]
    (out / "coverage.go").write_text("\n".join(lines))


entries = collect()
write_archive(entries)
write_coverage(entries)
