// `node scripts/sbom.mjs`: prints a bill of materials (SPDX 2.3, JSON) of the packages in the bundle. The source maps name the packages; the lock file has
// their versions, licenses and hashes. `npm sbom --omit=dev` omits packages that development tools depend on, too.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMain, root } from './setup.mjs';

/** Paths in the lock file, such as `node_modules/yaml`. */
function bundledPackages(folder) {
  const maps = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.js.map'));
  const sources = maps.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).sources);
  const paths = sources.map((source) =>
    /(?:node_modules\/(?:@[^/]+\/)?[^/]+\/)+/.exec(source)?.[0].slice(0, -1),
  );
  return [...new Set(paths.filter((path) => path !== undefined))].sort();
}

export function billOfMaterials(folder = join(root, 'dist'), created = new Date()) {
  const { name, version, packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const license = packages[''].license;
  const listed = bundledPackages(folder).map((path) => {
    const entry = packages[path];
    if (entry === undefined) throw new Error(`${path} is in the bundle but not in the lock file`);
    return describePackage(path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), entry);
  });
  const self = describePackage(name, { version, license });
  const digest = createHash('sha256').update(JSON.stringify(listed)).digest('hex');
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${name}@${version}`,
    documentNamespace: `https://kymera.io/sbom/${name}-${version}-${digest.slice(0, 16)}`,
    creationInfo: { created: `${created.toISOString().slice(0, 19)}Z`, creators: [`Tool: ${name}-sbom`] },
    documentDescribes: [self.SPDXID],
    packages: [self, ...listed],
    relationships: listed.map(({ SPDXID }) => ({
      spdxElementId: self.SPDXID,
      relatedSpdxElement: SPDXID,
      relationshipType: 'CONTAINS',
    })),
  };
}

function describePackage(name, { version, license, integrity }) {
  const [, algorithm, hash] = /^(sha\d+)-(\S+)$/.exec(integrity ?? '') ?? [];
  return {
    name,
    SPDXID: `SPDXRef-Package-${`${name}-${version}`.replaceAll(/[^A-Za-z0-9.]+/g, '-')}`,
    versionInfo: version,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseDeclared: license ?? 'NOASSERTION',
    externalRefs: [
      {
        referenceCategory: 'PACKAGE-MANAGER',
        referenceType: 'purl',
        referenceLocator: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      },
    ],
    ...(algorithm === undefined
      ? {}
      : {
          checksums: [
            {
              algorithm: algorithm.toUpperCase(),
              checksumValue: Buffer.from(hash, 'base64').toString('hex'),
            },
          ],
        }),
  };
}

if (isMain(import.meta.url)) console.log(JSON.stringify(billOfMaterials(), undefined, 2));
