/**
 * `npm run test:rest`: runs vitest with these arguments. Where `CI` is set, suites that failed run once more from their
 * beginning, on servers and in browsers of their own, when they are few: most of them walk through an application, so the
 * second try of one test finds what the first try left. They are named, to be mended.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFailedSuites } from '../failed-suites.ts'

/** More of them are no accident. */
const MOST_SUITES = 3

const vitest = join(import.meta.dirname, '..', '..', 'node_modules', 'vitest', 'vitest.mjs')
const words = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'quoin-failed-'))
try {
  process.exitCode = twice(join(folder, 'suites.json'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The exit code of the run that counts. */
function twice(file: string): number {
  const first = run(words, file)
  const failed = process.env.CI ? readFailedSuites(file) : []
  if (first === 0 || failed.length === 0 || failed.length > MOST_SUITES) return first
  console.log(`Run once more from the beginning, each a fault of the suite or of Quoin: ${failed.join(', ')}`)
  return run([...words, ...failed], file)
}

function run(more: readonly string[], file: string): number {
  const env = { ...process.env, QUOIN_FAILED_SUITES: file }
  return spawnSync(process.execPath, [vitest, 'run', ...more], { stdio: 'inherit', env }).status ?? 1
}
