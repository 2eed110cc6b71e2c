/**
 * What `npm pack` and `npm publish` put into the package, and its package.json.
 *
 *   node scripts/published-manifest.mjs prepack    builds all of it, and takes out of package.json what only a checkout needs
 *   node scripts/published-manifest.mjs postpack   puts package.json back
 *
 * The libraries are in the bundle, with their licences in THIRD-PARTY.md, so the published package has no dependencies: it
 * installs in a second, from any registry, and starts offline.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const manifest = join(root, 'package.json')
/** The checkout's package.json while a package is made. */
const kept = join(root, 'dist', 'package.json.kept')
const onlyInCheckout = ['scripts', 'dependencies', 'optionalDependencies', 'devDependencies', 'workspaces']

if (existsSync(kept)) renameSync(kept, manifest)
if (process.argv[2] === 'prepack') {
  for (const words of [['build-studio.mjs'], ['build-program.mjs', '--packed']]) {
    const [script, ...rest] = words
    execFileSync(process.execPath, [join(root, 'scripts', script), ...rest], {
      cwd: root,
      stdio: ['ignore', 2, 2],
    })
  }
  writeFileSync(join(root, 'dist', 'packed', 'sbom.cdx.json'), billOfMaterials())
  const text = readFileSync(manifest, 'utf8')
  const published = JSON.parse(text)
  for (const key of onlyInCheckout) delete published[key]
  writeFileSync(kept, text)
  writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`)
}

/** CycloneDX, of the lock file: name, version, licence and hash of each package that is not for development. */
function billOfMaterials() {
  const words = [
    'sbom',
    '--sbom-format',
    'cyclonedx',
    '--package-lock-only',
    '--omit',
    'dev',
    '--omit',
    'optional',
    // A silent pack must still report why it failed.
    '--loglevel',
    'error',
  ]
  const npm = process.env.npm_execpath
  const [command, first] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []]
  const made = spawnSync(command, [...first, ...words], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (made.status !== 0) throw new Error(`npm sbom failed: ${made.stderr}`)
  return made.stdout
}
