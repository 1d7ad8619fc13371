"""Files as instruments and colleagues write them, with the values that they hold."""

import bz2
import gzip
import io
import lzma
import zipfile

T, V = [0.0, 0.5, 1.25], [1.5, -2.0, 3.75]
LARGE = [1234.5, 2345678.25, 12.0]
NAN = float("nan")


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("d.csv", content)
    return stream.getvalue()


PLAIN = b"t,v\n0,1.5\n0.5,-2\n1.25,3.75\n"
# Name: the content of a file, its columns, and what is said of it.
READ = {
    "commas": (PLAIN, {"t": T, "v": V}, None),
    "semicolons, decimal comma": (
        b"t;v\n0;1,5\n0,5;-2\n1,25;3,75\n",
        {"t": T, "v": V},
        "separated by ;, decimal comma",
    ),
    "semicolons, decimal point": (
        b"t;v\n0;1.5\n0.5;-2\n1.25;3.75\n",
        {"t": T, "v": V},
        "separated by ;",
    ),
    "tabs": (b"t\tv\n0\t1.5\n0.5\t-2\n1.25\t3.75\n", {"t": T, "v": V}, "separated by tabs"),
    "bars": (b"t|v\n0|1.5\n0.5|-2\n1.25|3.75\n", {"t": T, "v": V}, "separated by |"),
    "aligned by blanks": (
        b"   t      v\n   0    1.5\n 0.5     -2\n1.25   3.75\n",
        {"t": T, "v": V},
        "separated by blanks",
    ),
    "blanks and decimal commas": (
        b"t v\n0 1,5\n0,5 -2\n1,25 3,75\n",
        {"t": T, "v": V},
        "separated by blanks, decimal comma",
    ),
    "blanks in names": (
        b"Time (s)   U (mV)\n0   1.5\n0.5  -2\n1.25   3.75\n",
        {"Time (s)": T, "U (mV)": V},
        "separated by blanks",
    ),
    "thousands, German": (
        b"a;v\n1.234,5;1,5\n2.345.678,25;-2\n12;3,75\n",
        {"a": LARGE, "v": V},
        "separated by ;, decimal comma, thousands set apart by .",
    ),
    "thousands, French": (
        "a;v\n1 234,5;1,5\n2\u202f345\u202f678,25;-2\n12;3,75\n".encode(),
        {"a": LARGE, "v": V},
        "separated by ;, decimal comma, thousands set apart by blanks",
    ),
    "thousands, Swiss": (
        b"a;v\n1'234.5;1.5\n2'345'678.25;-2\n12;3.75\n",
        {"a": LARGE, "v": V},
        "separated by ;, thousands set apart by '",
    ),
    "thousands, quoted": (
        b'a,v\n"1,234.5",1.5\n"2,345,678.25",-2\n12,3.75\n',
        {"a": LARGE, "v": V},
        "thousands set apart by ,",
    ),
    "a typographic minus": (
        "t,v\n0,1.5\n0.5,\u22122\n1.25,3.75\n".encode(),
        {"t": T, "v": V},
        None,
    ),
    "comments": (
        b"# logger 7\n# 2024-05-01\nt,v\n0,1.5\n# pause\n0.5,-2\n1.25,3.75\n",
        {"t": T, "v": V},
        "3 comment lines left out",
    ),
    "names in a comment": (b"# t v\n0 1.5\n0.5 -2\n1.25 3.75\n", {"t": T, "v": V}, None),
    "names in a comment of MATLAB": (b"% t, v\n0,1.5\n0.5,-2\n1.25,3.75\n", {"t": T, "v": V}, None),
    "a column that is called #": (
        b"#,t,v\n1,0,1.5\n2,0.5,-2\n3,1.25,3.75\n",
        {"#": [1, 2, 3], "t": T, "v": V},
        None,
    ),
    "lines of an instrument above": (
        b"Model,XY-100\nSerial,12345\nRate,1000\n\nt,v\n0,1.5\n0.5,-2\n1.25,3.75\n",
        {"t": T, "v": V},
        "3 lines above the header left out",
    ),
    "units below": (
        b"t,v\ns,mV\n0,1.5\n0.5,-2\n1.25,3.75\n",
        {"t": T, "v": V},
        "a row of units (s, mV)",
    ),
    "units in brackets": (
        b"t;v\n[s];[V/m]\n0;1,5\n0,5;-2\n1,25;3,75\n",
        {"t": T, "v": V},
        "separated by ;, decimal comma, a row of units ([s], [V/m])",
    ),
    "texts like units in the first row": (
        b"sex,grade,v\nm,A,\nf,B,1.5\nm,A,-2\n",
        {"sex": ["m", "f", "m"], "grade": ["A", "B", "A"], "v": [NAN, 1.5, -2]},
        None,
    ),
    "texts like units alone": (
        b"sex,grade\nm,A\nf,B\nm,A\n",
        {"sex": ["m", "f", "m"], "grade": ["A", "B", "A"]},
        None,
    ),
    "numbers missing in the first rows": (
        b"date,v\n2024-01-01,\n2024-01-02,NA\n2024-01-03,1.5\n2024-01-04,-2\n",
        {
            "date": ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"],
            "v": [NAN, NAN, 1.5, -2],
        },
        None,
    ),
    "more missing cells than numbers": (
        b"t\tu\tv\n-455.790,7\tNA\tNA\n-41.562,8\tNA\tNA\nNA\tNA\t443.737,352\n",
        {"t": [-455790.7, -41562.8, NAN], "u": [NAN] * 3, "v": [NAN, NAN, 443737.352]},
        "separated by tabs, decimal comma, thousands set apart by .",
    ),
    "dashes in the first row": (
        b"t,v\n-,--\n0,1.5\n0.5,-2\n",
        {"t": [NAN, 0, 0.5], "v": [NAN, 1.5, -2]},
        None,
    ),
    "a missing value of Excel in the first cell": (
        b"t;v\n0;1,5\n#NV;-2\n",
        {"t": [0, NAN], "v": [1.5, -2]},
        "separated by ;, decimal comma",
    ),
    "thousands set apart by blanks, among commas": (
        b"p,v\n12 345,1\n22 345,2\n",
        {"p": [12345, 22345], "v": [1, 2]},
        "thousands set apart by blanks",
    ),
    "a line under the header": (
        b"   t     v\n----  ----\n   0   1.5\n 0.5    -2\n1.25  3.75\n",
        {"t": T, "v": V},
        "separated by blanks",
    ),
    "no header": (
        b"0,1.5\n0.5,-2\n1.25,3.75\n",
        {"c1": T, "c2": V},
        "no header: columns c1 to c2",
    ),
    "no header, with dates": (
        b"2024-01-01 12:00,1.5\n2024-01-02 12:00,-2\n2024-01-03 12:00,3.75\n",
        {"c1": ["2024-01-01 12:00", "2024-01-02 12:00", "2024-01-03 12:00"], "c2": V},
        "no header: columns c1 to c2",
    ),
    "wavelengths as names": (
        b"sample no,400,410\n1,0,1.5\n2,0.5,-2\n3,1.25,3.75\n",
        {"sample no": [1.0, 2.0, 3.0], "400": T, "410": V},
        None,
    ),
    "text": (
        b"who;v\nAnn;1,5\nBob, jr.;-2\nCid;3,75\n",
        {"who": ["Ann", "Bob, jr.", "Cid"], "v": V},
        "separated by ;, decimal comma",
    ),
    "signs as labels": (
        b"test,v\n+,1.5\n-,-2\n+,3.75\n",
        {"test": ["+", "-", "+"], "v": V},
        None,
    ),
    "missing cells": (
        b"a,b,v\n1,NA,1.5\n,2,-2\n-,n/a,3.75\n4,null,1\n5,NaN,1\n6,3,?\n",
        {
            "a": [1, NAN, NAN, 4, 5, 6],
            "b": [NAN, 2, NAN, NAN, NAN, 3],
            "v": [1.5, -2, 3.75, 1, 1, NAN],
        },
        None,
    ),
    "a byte order mark": (b"\xef\xbb\xbf" + PLAIN, {"t": T, "v": V}, None),
    "UTF-16": (
        "t;größe\n0;1,5\n0,5;-2\n1,25;3,75\n".encode("utf-16"),
        {"t": T, "größe": V},
        "separated by ;, decimal comma, UTF-16",
    ),
    "UTF-16 without a mark": (PLAIN.decode().encode("utf-16-le"), {"t": T, "v": V}, "UTF-16"),
    "Windows-1252": (
        "t;größe\n0;1,5\n0,5;-2\n1,25;3,75\n".encode("cp1252"),
        {"t": T, "größe": V},
        "separated by ;, decimal comma, Windows-1252",
    ),
    "quotes": (
        b'"t, s";"v ""raw"""\n"0";"1,5"\n"0,5";"-2"\n"1,25";"3,75"\n',
        {"t, s": T, 'v "raw"': V},
        "separated by ;, decimal comma",
    ),
    "line ends of Windows": (PLAIN.replace(b"\n", b"\r\n"), {"t": T, "v": V}, None),
    "line ends of old Macs": (PLAIN.replace(b"\n", b"\r"), {"t": T, "v": V}, None),
    "delimiters at the end": (b"t;v;\n0;1,5;\n0,5;-2;\n1,25;3,75;\n", {"t": T, "v": V}, ...),
    "delimiters at the end of rows": (
        b"t,v\n0,1.5,\n0.5,-2,\n1.25,3.75,\n",
        {"t": T, "v": V},
        None,
    ),
    "delimiters at the end, with text": (
        b"who;v;\nAnn;1,5;\nBob;-2;\nCid;3,75;\n",
        {"who": ["Ann", "Bob", "Cid"], "v": V},
        "separated by ;, decimal comma",
    ),
    "blank lines": (b"\n\nt,v\n\n0,1.5\n0.5,-2\n\n,\n1.25,3.75\n\n", {"t": T, "v": V}, None),
    "blanks around cells": (b"t , v\n 0 , 1.5\n 0.5 , -2\n1.25,  3.75 \n", {"t": T, "v": V}, None),
    "an index without a name": (b",v\n0,1.5\n1,-2\n2,3.75\n", {"c1": [0, 1, 2], "v": V}, None),
    "one column": (b"v\n1.5\n-2\n3.75\n", {"v": V}, None),
    "rows that begin with #": (
        b"id,v\n#1,1.5\n#2,-2\n#3,3.75\n",
        {"id": ["#1", "#2", "#3"], "v": V},
        None,
    ),
    "gzip": (gzip.compress(PLAIN), {"t": T, "v": V}, None),
    "bzip2": (bz2.compress(PLAIN), {"t": T, "v": V}, None),
    "xz": (lzma.compress(PLAIN), {"t": T, "v": V}, None),
    "zip": (zipped(PLAIN), {"t": T, "v": V}, None),
}
# Name: the content, what it is read with, and what the refusal says.
REFUSED = {
    "1,234 among semicolons": (
        b"t;v\n1,234;1\n2,345;2\n",
        {},
        r"line 2, column 't': '1,234' may be a fraction or a number above a thousand.*decimal",
    ),
    "1.234 among semicolons": (
        b"t;v\n1.234;1\n2.345;2\n",
        {},
        r"line 2, column 't': '1.234' may be a fraction.*option decimal",
    ),
    "fractions with points beside decimal commas": (
        b"lat;v\n48.123;1,5\n48.124;2,5\n",
        {},
        r"line 2, column 'lat': '48.123' may be a fraction .*, though other columns .* decimal",
    ),
    "fractions with commas beside decimal points": (
        b"a;v\n1,234;1.5\n2,345;2.5\n",
        {},
        r"line 2, column 'a': '1,234' may be a fraction .*, though other .* decimal points; say",
    ),
    "a name with an underscore among numbers": (
        b"id,v\n1,1.5\n2,-2\n3_1,3.75\n",
        {},
        r"line 4, column 'id': '3_1' is not a number",
    ),
    "an error of Excel in the first cell": (
        b"t,v\n0,1.5\n#DIV/0!,-2\n",
        {},
        r"line 3, column 't': '#DIV/0!' is not a number",
    ),
    "1.234 among tabs": (
        b"t\tv\n1.234\t1\n2.345\t2\n",
        {},
        r"line 2, column 't': '1.234' may be a fraction.*option decimal",
    ),
    "both decimal marks": (
        b"t;v\n1,5;2.5\n2,5;3.5\n",
        {},
        r"line 2, column 't': '1,5' has a decimal comma, but '2.5' \(line 2, column 'v'\) a deci",
    ),
    "a point among decimal commas, later": (
        b"t;v\n" + b"1,5;2,5\n" * 2000 + b"1.5;2,5\n",
        {},
        r"line 2002, column 't': '1.5' has a point where other numbers have a decimal comma; write",
    ),
    "a decimal comma among points, later": (
        b"t;v\n" + b"1.5;2.5\n" * 2000 + b"1,5;2.5\n",
        {},
        r"line 2002, column 't': '1,5' has a comma, which other numbers do not have; .*decimal",
    ),
    "a comma that whole numbers say nothing of, later": (
        b"t;v\n" + b"1;2\n" * 2000 + b"1,234;2\n",
        {},
        r"line 2002, column 't': '1,234' has a comma, .*option decimal",
    ),
    "a header that may be a row": (
        b"s1,0.1\ns2,0.2\n",
        {},
        r"line 1 may name the columns or be the first row; say which .*header, 1\), or 'none'",
    ),
    "a header that is too short": (
        b"v\n1,5\n2,5\n",
        {},
        r"line 1 has 1 cells, but the rows below have 2; .*option decimal",
    ),
    "two columns of one name": (b"t,t\n1,2\n", {}, r"line 1: the column name 't' .*rename one"),
    "a header only": (b"t,v\n", {}, "there is a header but no row below it"),
    "nothing": (b"", {}, "the file is empty"),
    "blank lines only": (b"\n \n", {}, "the file is empty"),
    "bytes": (bytes(range(256)) * 8, {}, "a binary file, not a table of text; export it as .csv"),
    "an old Excel file": (b"\xd0\xcf\x11\xe0" + b"\0" * 600, {}, r"\(.xls\); save it as .xlsx"),
    "a damaged gzip file": (gzip.compress(PLAIN)[:-9], {}, "a damaged packed file; store it again"),
    "a damaged zip file": (zipped(PLAIN)[:40], {}, "a damaged .zip or .xlsx file; store it again"),
    "another encoding": (
        b"t,v\n1,\x81\x8d\n",
        {},
        "neither UTF-8, UTF-16 nor Windows-1252.*option",
    ),
    "not the encoding that is told": (
        "größe,v\n1,2\n".encode("cp1252"),
        {"encoding": "utf-8"},
        r"byte 0xf6 is no UTF-8; say what the encoding is \(option encoding, such as cp1252\)",
    ),
    "a short row": (b"t,v\n1,2\n3\n4,5\n", {}, "line 3 has 1 cells, the header has 2; give each"),
    "a long row": (b"t,v\n1,2\n3,4,5\n6,7\n", {}, "line 3 has 3 cells, the header has 2"),
    "a typing slip": (
        b"t,v\n1,2\n3,x\n4,5\n",
        {},
        "line 3, column 'v': 'x' is not a number; correct",
    ),
    "a typing slip in the first row": (
        b"t,v\n1,x\n3,4\n4,5\n",
        {},
        "line 2, column 'v': 'x' is not a number",
    ),
    "another table below": (
        b"t,v\n1,2\n3,4\n\na,b\n5,6\n",
        {},
        "line 5, column 't': 'a' is not a number; correct it, or leave the column out",
    ),
    "another table of other width below": (
        b"t,v\n1,2\n3,4\n\na,b,c\n5,6,7\n",
        {},
        "line 5 has 3 cells, the header has 2; give each row as many, in one table",
    ),
    "a unit in a cell": (
        b"t,v\n1,2\n3,4 mV\n4,5\n",
        {},
        "line 3, column 'v': '4 mV' is a number with the unit 'mV'; write the number alone",
    ),
    "a quote that is not closed": (
        b't,v\n1,"2\n' + b"3,4\n" * 40_000,
        {},
        "not a table of text .*; look for a quote that is not closed",
    ),
    "a header that is not there": (b"t,v\n1,2\n", {"header": 9}, "line 9 names no columns; say"),
}
