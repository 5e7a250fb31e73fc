"""Distributions imported under another name than their own. Frozen, as installed metadata differs.

A distribution that isn't listed is taken to be imported under its own name, compared as PEP 503 does.
"""

from __future__ import annotations

import re

_TABLE = """
    antlr4-python3-runtime=antlr4 attrs=attr,attrs azure-core=azure.core azure-identity=azure.identity
    azure-storage-blob=azure.storage.blob beautifulsoup4=bs4 biopython=Bio cassandra-driver=cassandra
    djangorestframework=rest_framework dnspython=dns faiss-cpu=faiss fonttools=fontTools
    gitpython=git,gitdb google-api-python-client=googleapiclient google-auth=google.auth,google.oauth2
    google-cloud-bigquery=google.cloud.bigquery google-cloud-pubsub=google.cloud.pubsub
    google-cloud-storage=google.cloud.storage google-generativeai=google.generativeai grpcio=grpc
    grpcio-tools=grpc_tools ipython=IPython kafka-python=kafka levenshtein=Levenshtein
    mysql-connector-python=mysql.connector mysqlclient=MySQLdb opencv-contrib-python=cv2
    opencv-python=cv2 opencv-python-headless=cv2 paho-mqtt=paho.mqtt pillow=PIL protobuf=google.protobuf
    psycopg2-binary=psycopg2 pycairo=cairo pycryptodome=Crypto pycryptodomex=Cryptodome pygobject=gi
    pyjwt=jwt pymupdf=fitz,pymupdf pynacl=nacl pyopenssl=OpenSSL pyserial=serial pysocks=socks
    pytest=pytest,_pytest python-dateutil=dateutil python-docx=docx python-dotenv=dotenv
    python-gitlab=gitlab python-jose=jose python-json-logger=pythonjsonlogger
    python-levenshtein=Levenshtein python-magic=magic python-multipart=multipart,python_multipart
    python-pptx=pptx python-slugify=slugify python-telegram-bot=telegram
    pywin32=win32api,win32con,win32com,pythoncom pyyaml=yaml pyzmq=zmq rpds-py=rpds
    ruamel-yaml=ruamel.yaml scikit-image=skimage scikit-learn=sklearn
    setuptools=setuptools,pkg_resources tensorflow-cpu=tensorflow umap-learn=umap
    websocket-client=websocket zope-interface=zope.interface
"""

_NAMESPACES = """
    azure azure.storage backports google google.cloud jaraco mysql opentelemetry paho ruamel
    sphinxcontrib zope
"""

NAMESPACES = frozenset(_NAMESPACES.split())
"""Folders shared by many distributions: what is imported from one is named with it."""

IMPORTS_OF = {name: tuple(modules.split(",")) for name, _, modules in (row.partition("=") for row in _TABLE.split())}


def normal(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def import_prefixes(entry: str) -> tuple[str, ...]:
    """The dotted prefixes that an entry of an allow list stands for, itself first."""
    return (entry, *IMPORTS_OF.get(normal(entry), ()))
