"""The sizes up to which checkpoints save a file. Pure."""

import os

from halocline.protocol.values import set_of

SMALL = 256_000
"""Bytes up to which files of these kinds are saved unless git tracks them: a folder may hold many that are large."""
_MEDIA = set_of("jpg jpeg png gif bmp ico webp avif heic tif tiff psd mp3 wav flac ogg m4a mp4 m4v mov avi mkv webm")
_FONTS = set_of("woff woff2 ttf otf")
_COMPILED = set_of("o a obj so dylib dll exe lib class wasm rlib rmeta")
_ARCHIVES = set_of("zip tar tgz gz bz2 xz zst 7z rar jar war whl iso dmg img bin")
_DATABASES = set_of("db db-journal db-shm db-wal sqlite sqlite3 sqlite-journal sqlite-shm sqlite-wal mdb rdb")
_DATA = set_of("parquet arrow feather h5 hdf5 npy npz pkl pt onnx safetensors gguf shp mbtiles log dmp core hprof")
_KINDS = _MEDIA | _FONTS | _COMPILED | _ARCHIVES | _DATABASES | _DATA


def largest_saved(path: bytes, largest: int) -> int:
    """Return the size in bytes up to which a file is saved; `largest` is that of any file."""
    kind = os.fsdecode(os.path.splitext(path)[1][1:]).lower()
    return min(largest, SMALL) if kind in _KINDS else largest
