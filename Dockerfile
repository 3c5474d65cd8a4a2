# The server with its embedded models. Nothing secret goes into a layer: keys, documents and the log are in the
# volume, and .dockerignore lets only the files below into the build.
FROM python:3.11-slim-bookworm AS build
WORKDIR /build
COPY requirements/build.txt requirements/server.txt requirements/
RUN python -m pip install --no-cache-dir --require-hashes -r requirements/build.txt \
    && python -m venv /opt/citewell \
    && /opt/citewell/bin/python -m pip install --no-cache-dir --require-hashes -r requirements/server.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY judge judge
RUN python -m pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir wheels . ./judge \
    && /opt/citewell/bin/python -m pip install --no-cache-dir --no-deps --no-index wheels/*.whl

FROM python:3.11-slim-bookworm
RUN useradd --system --uid 10001 --user-group --no-create-home --home-dir /var/lib/citewell citewell \
    && install -d -o citewell -g citewell -m 0700 /var/lib/citewell
COPY --from=build /opt/citewell /opt/citewell
# The port is set here so that the health check knows it. Beyond loopback the server starts only once a key or an
# issuer exists.
ENV PATH=/opt/citewell/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    CITEWELL_HOME=/var/lib/citewell \
    CITEWELL_SERVER_HOST=0.0.0.0 \
    CITEWELL_SERVER_PORT=8000
USER 10001:10001
WORKDIR /var/lib/citewell
VOLUME /var/lib/citewell
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"CITEWELL_SERVER_PORT\"]}/readyz', timeout=4)"]
ENTRYPOINT ["citewell"]
CMD ["serve"]
