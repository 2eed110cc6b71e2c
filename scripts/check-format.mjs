// `npm run check:format`: Biome over the files that have changed since it last found nothing: one instead of nine seconds of
// processor time after a small edit. After a change of its settings or version, or without Git, over all.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const passed = join(root, 'node_modules/.cache/quoin-format')
const timeOf = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Names of changed files; undefined for all. */
function changed() {
  const since = timeOf(passed)
  const settings = ['biome.json', '.gitignore', 'node_modules/.package-lock.json', 'scripts/check-format.mjs']
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
const { status } =
  files?.length === 0
    ? { status: 0 }
    : spawnSync('biome', [...words, ...(files ?? ['.'])], {
        cwd: root,
        stdio: ['ignore', 'inherit', 'inherit'],
      })
if (status === 0) {
  mkdirSync(dirname(passed), { recursive: true })
  // A file that was written while Biome ran is looked at again.
  writeFileSync(passed, '')
  utimesSync(passed, began, began)
}
process.exitCode = status ?? 1
