# A Node release with long-term support. Renovate pins and updates its digest.
FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json README.md ./
COPY scripts/build.mjs scripts/build-web.mjs scripts/sbom.mjs scripts/setup.mjs scripts/
COPY bin bin
COPY src src
# The playground, with its examples.
COPY web web
COPY policies policies
COPY docs docs
COPY schemas schemas
# The bundle contains its packages. The bill of materials, read from the source maps, lists them.
RUN node scripts/build.mjs --program \
    && node scripts/build-web.mjs \
    && node scripts/sbom.mjs > sbom.spdx.json \
    && find dist -name '*.map' -delete

FROM node:24-slim
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="kymera" \
      org.opencontainers.image.description="Kyverno-compatible mutation for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
ENV NODE_ENV=production
WORKDIR /app
COPY LICENSE package.json ./
COPY deploy/image/healthcheck.mjs ./
COPY docs/differences-from-kyverno.md docs/
COPY --from=build /build/sbom.spdx.json ./
COPY --from=build /build/bin/kymera bin/kymera
COPY --from=build /build/dist dist
USER 65532:65532
EXPOSE 9443 8000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "/app/healthcheck.mjs"]
ENTRYPOINT ["node", "/app/bin/kymera"]
CMD ["--help"]
