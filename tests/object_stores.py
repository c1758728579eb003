"""Servers of this machine that speak as object stores do: a place in an empty bucket of each."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from firstlight.farm.places.locations import place_at
from firstlight.farm.places.place import Place

#: The account that Azurite has, and its key, which its documentation names.
_AZURITE = "devstoreaccount1"
_AZURITE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_STARTS_S = 60


@contextmanager
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """A bucket of moto, which speaks S3."""
    pytest.importorskip("s3fs", reason="`make farm-stores` runs this with S3")
    server = pytest.importorskip("moto.server")
    import boto3
    import s3fs

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    served = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    served.start()
    _, port = served.get_host_and_port()
    # All servers of a process have the same buckets.
    name = f"farm-{uuid.uuid4().hex}"
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    boto3.client("s3").create_bucket(Bucket=name)
    s3fs.S3FileSystem.clear_instance_cache()
    yield place_at(f"s3://{name}/one/store")
    served.stop()


@contextmanager
def google(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Place]:
    """A bucket of fake-gcs-server, which speaks as Google Cloud Storage."""
    gcsfs = pytest.importorskip("gcsfs", reason="`make farm-stores` runs this with Google's protocol")
    port = _free_port()
    address = f"http://127.0.0.1:{port}"
    command = ["fake-gcs-server", "-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    with _server([*command, "-external-url", address, "-public-host", f"127.0.0.1:{port}"], port, folder):
        asked = urllib.request.Request(
            f"{address}/storage/v1/b", data=b'{"name": "farm"}', headers={"Content-Type": "application/json"}
        )
        urllib.request.urlopen(asked, timeout=_STARTS_S).close()
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", address)
        gcsfs.GCSFileSystem.clear_instance_cache()
        yield place_at("gs://farm/one/store")


@contextmanager
def azure(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Place]:
    """A container of Azurite, which speaks as Azure Blob Storage."""
    adlfs = pytest.importorskip("adlfs", reason="`make farm-stores` runs this with Azure's protocol")
    blobs = pytest.importorskip("azure.storage.blob")
    port = _free_port()
    command = ["azurite-blob", "--blobHost", "127.0.0.1", "--blobPort", str(port), "--inMemoryPersistence"]
    with _server([*command, "--skipApiVersionCheck", "--disableTelemetry"], port, folder):
        found = (
            f"DefaultEndpointsProtocol=http;AccountName={_AZURITE};AccountKey={_AZURITE_KEY};"
            f"BlobEndpoint=http://127.0.0.1:{port}/{_AZURITE};"
        )
        blobs.BlobServiceClient.from_connection_string(found).create_container("farm")
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", found)
        adlfs.AzureBlobFileSystem.clear_instance_cache()
        yield place_at("az://farm/one/store")


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@contextmanager
def _server(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """A server that takes connections, until the context ends."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"`{command[0]}` is not installed; `make farm-stores` does that")
    folder.mkdir(exist_ok=True)
    with (folder / "server.log").open("wb") as log:
        child = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        until = time.monotonic() + _STARTS_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if child.poll() is not None or time.monotonic() > until:
                    pytest.fail(f"the server does not start: {(folder / 'server.log').read_text()[-2000:]}")
                time.sleep(0.05)
        yield
    finally:
        child.terminate()
        child.wait()
