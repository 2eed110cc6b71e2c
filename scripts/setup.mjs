// Installs what package-lock.json names, once. Runs on any Node from 18 and has no dependencies, because it is what
// brings them: the pinned runtime itself arrives as an optional dependency, and npm puts it first on the path of its scripts.
//
//   node scripts/setup.mjs start   what `npm start` needs (no development dependencies)
//   node scripts/setup.mjs test    everything
//   node scripts/setup.mjs check   everything, without building: `npm run check` and `npm run dev`
//
// Of two at once in one checkout the second waits: npm would replace packages that the first has begun to use.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSupportedNode, unsupportedNode } from '../bin/supported-node.mjs'
import { takeSetupLock } from './setup-lock.mjs'

const root = join(
  import.meta.dirname ?? new URL('..', import.meta.url).pathname,
  import.meta.dirname ? '..' : '.',
)
// pnpm lays packages out in another way, and npm would install over it.
if (
  process.env.npm_config_user_agent?.startsWith('pnpm') ||
  existsSync(join(root, 'node_modules', '.pnpm'))
) {
  console.error(
    'A checkout of Quoin is set up with npm, not pnpm. Remove node_modules and run: npm start. The published package works with either.',
  )
  process.exit(1)
}

await takeSetupLock(join(root, 'dist'))

const purpose = process.argv[2] === 'start' ? 'start' : 'test'
const lock = readFileSync(join(root, 'package-lock.json'))
const digest = createHash('sha256')
  .update(lock)
  .update(readFileSync(join(root, 'package.json')))
  .digest('hex')
const stamp = join(root, 'node_modules', '.quoin-setup')

const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim() : ''
if (installed !== `test ${digest}` && installed !== `${purpose} ${digest}`) {
  console.log(
    `Installing what Quoin needs (${purpose === 'start' ? 'to run' : 'to run and to test'}), once …`,
  )
  const npm = process.env.npm_execpath
  // Not `npm ci`: that refuses when a registry does not carry the optional packages of other platforms. With a lock file
  // `npm install` takes the same versions and checks the same hashes; --no-save leaves the lock file alone.
  const words = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  if (purpose === 'start') words.push('--omit=dev')
  const done = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...words], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    : spawnSync('npm', words, {
        cwd: root,
        stdio: ['ignore', 'inherit', 'inherit'],
        shell: process.platform === 'win32',
      })
  if (done.status !== 0) {
    console.error('Installing failed. Is the package registry reachable? Try `npm install` to see more.')
    process.exit(1)
  }
  writeFileSync(stamp, `${purpose} ${digest}\n`)
}

const pinned = join(root, 'node_modules', '.bin', 'node')
const runtime = existsSync(pinned)
  ? spawnSync(pinned, ['--version'], { encoding: 'utf8' }).stdout?.trim()
  : process.version
if (!runtime) {
  console.error('The Node of node_modules does not start. Remove node_modules and try again.')
  process.exit(1)
}
if (!isSupportedNode(runtime)) {
  console.error(unsupportedNode(runtime))
  process.exit(1)
}

if (process.argv[2] === 'check') process.exit(0)

// Told now: a build takes a minute.
if (purpose === 'start' && process.env.QUOIN_ADMIN_PASSWORD) {
  const script = join(root, 'scripts', 'check-first-start.ts')
  const node = existsSync(pinned) ? pinned : process.execPath
  if (spawnSync(node, [script], { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1)
}

// The studio and the program's bundle are built, side by side. They say so when there was something to build, and why when
// it could not be. Without a bundle the program runs as it is written, so only the studio is worth stopping for.
function build(runtime, script) {
  const child = spawn(runtime, [join(root, 'scripts', script)], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise((resolve) => {
    child.once('error', () => resolve(1)).once('exit', resolve)
  })
}

const [studio, program] = await Promise.all([
  build(process.execPath, 'build-studio.mjs'),
  build(existsSync(pinned) ? pinned : process.execPath, 'build-program.mjs'),
])
if (program !== 0)
  console.error('The program could not be built into a bundle: it runs from its sources, which takes longer.')
if (studio !== 0) process.exit(1)
