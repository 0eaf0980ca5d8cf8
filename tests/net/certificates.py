"""A certificate authority for tests, made by the `openssl` command, and the certificates it signs."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

CONFIG = """
[req]
distinguished_name = name
prompt = no
[name]
CN = Test authority
[authority]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:false
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
extendedKeyUsage = serverAuth
subjectAltName = {names}
[lone]
subjectKeyIdentifier = hash
subjectAltName = {names}
[ca]
default_ca = ours
[ours]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
unique_subject = no
policy = any
x509_extensions = leaf
certificate = authority.pem
private_key = authority.key
[any]
commonName = supplied
"""

NAMES = "DNS:localhost, DNS:models.example, IP:127.0.0.1"
VALID = ("20200101000000Z", "20991231000000Z")
PAST = ("20200101000000Z", "20210101000000Z")
FUTURE = ("20900101000000Z", "20991231000000Z")
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-batch", "-config", "openssl.cnf")


class Authority:
    """`ca_file` is its own certificate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ca_file = str(folder / "authority.pem")
        (folder / "index.txt").touch()
        self._configure(NAMES)
        files = ("-keyout", "authority.key", "-out", "authority.pem")
        self._openssl("req", "-x509", *NEW_KEY, *files, "-days", "3650", "-extensions", "authority")

    def signs(self, name: str, names: str = NAMES, dates: tuple[str, str] = VALID) -> ssl.SSLContext:
        """A server's context whose certificate is for `names` and holds between `dates`."""
        self._configure(names)
        self._openssl("req", "-new", *NEW_KEY, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        files = ("-in", f"{name}.csr", "-out", f"{name}.pem", "-config", "openssl.cnf", "-batch", "-notext")
        self._openssl("ca", *files, "-startdate", dates[0], "-enddate", dates[1])
        return self._context(name)

    def signs_itself(self, name: str) -> ssl.SSLContext:
        """A server's context whose certificate no authority stands behind."""
        self._configure(NAMES)
        files = ("-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.pem")
        self._openssl("req", "-x509", *NEW_KEY, *files, "-days", "30", "-extensions", "lone")
        return self._context(name)

    def _context(self, name: str) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        return context

    def _configure(self, names: str) -> None:
        (self.folder / "openssl.cnf").write_text(CONFIG.format(names=names))

    def _openssl(self, *words: str) -> None:
        ran = subprocess.run(["openssl", *words], cwd=self.folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if not shutil.which("openssl"):
        pytest.skip("the openssl command makes the certificates, and it is not here")
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def trusted(authority: Authority) -> ssl.SSLContext:
    """A server's context with a good certificate for localhost, 127.0.0.1 and models.example."""
    return authority.signs("good")
