// `npm run check:format`: Biome over the files that have changed since it last found nothing: one instead of nine seconds of
// processor time after a small edit. After a change of its settings or version, or without Git, over all.
//
// Where a source of the server has changed, promises that nothing waits for are looked for in all of them: whether a call gives a promise is
// said in another file. Five seconds of processor time, so only then; tests and the studio take twice as much, and their failures show in a run.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const promises = 'scripts/floating-promises.json'
const passed = join(root, 'node_modules/.cache/quoin-format')
const timeOf = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Names of changed files; undefined for all. */
function changed() {
  const since = timeOf(passed)
  const settings = [
    'biome.json',
    '.gitignore',
    'node_modules/.package-lock.json',
    'scripts/check-format.mjs',
    promises,
  ]
  if (settings.some((file) => timeOf(join(root, file)) >= since)) return undefined
  try {
    const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    })
    return listed.split('\0').filter((file) => file !== '' && timeOf(join(root, file)) >= since)
  } catch {
    return undefined
  }
}

const files = changed()
const began = new Date()
const words = [
  'ci',
  '--colors=off',
  '--diagnostic-level=warn',
  '--error-on-warnings',
  '--no-errors-on-unmatched',
]
/** Gives the exit code. */
function biome(...all) {
  const stdio = ['ignore', 'inherit', 'inherit']
  return spawnSync('biome', all, { cwd: root, stdio }).status ?? 1
}

const isServer = (file) => /^src\/(?!studio\/).*(?<!\.test)\.ts$/.test(file)
const lint = ['lint', '--colors=off', `--config-path=${promises}`, '--only=nursery/noFloatingPromises', 'src']
let status = files?.length === 0 ? 0 : biome(...words, ...(files ?? ['.']))
if (status === 0 && (files?.some(isServer) ?? true)) status = biome(...lint)
if (status === 0) {
  mkdirSync(dirname(passed), { recursive: true })
  // A file that was written while Biome ran is looked at again.
  writeFileSync(passed, '')
  utimesSync(passed, began, began)
}
process.exitCode = status
