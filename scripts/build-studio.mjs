// Builds the studio into dist/studio when its sources or its packages have changed since it was built last, and packs each
// file with brotli and gzip. Takes about five seconds; with nothing to do, 20 ms. No dependencies of its own, any Node from 18.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const built = join(root, 'dist', 'studio')
const stamp = join(built, 'sources.sha256')

/** Files that the built studio is made of, tests left out. */
function sources(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return sources(path)
      return /\.test\.tsx?$/.test(entry.name) ? [] : [path]
    })
}

function digest() {
  const hash = createHash('sha256')
  const shared = ['src/studio', 'src/shared', 'src/expressions/language'].flatMap((folder) =>
    sources(join(root, folder)),
  )
  for (const path of [...shared, join(root, 'package-lock.json'), fileURLToPath(import.meta.url)])
    hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}

function pack(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const bytes = readFileSync(path)
    // Below this a header more costs what packing saves.
    if (bytes.length < 1024) continue
    const options = {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, options))
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  }
}

const requested = digest()
if (existsSync(stamp) && readFileSync(stamp, 'utf8').trim() === requested) process.exit(0)

const began = Date.now()
// Beside the old one, which a running server may still be sending.
const fresh = `${built}.${process.pid}`
const pinned = join(root, 'node_modules', '.bin', 'node')
const done = spawnSync(
  existsSync(pinned) ? pinned : process.execPath,
  [
    join(root, 'node_modules', 'vite', 'bin', 'vite.js'),
    'build',
    ...['--config', join(root, 'src', 'studio', 'vite.config.ts')],
    ...['--outDir', fresh],
    ...['--logLevel', 'warn'],
  ],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    // Vite takes over what is set: in a run of tests it would be React's development build, a third larger and slower,
    // which the next start would then serve.
    env: { ...process.env, NODE_ENV: 'production' },
  },
)
if (done.status !== 0) {
  rmSync(fresh, { recursive: true, force: true })
  console.error('The studio could not be built; what went wrong is above.')
  process.exit(1)
}
pack(join(fresh, 'assets'))
writeFileSync(join(fresh, 'sources.sha256'), `${requested}\n`)
rmSync(built, { recursive: true, force: true })
renameSync(fresh, built)
console.log(`Built the studio in ${((Date.now() - began) / 1000).toFixed(1)} s.`)
