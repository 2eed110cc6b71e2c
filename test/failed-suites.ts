/**
 * Which suites failed in a run of vitest, for the process that started it (`tiers/run-again.ts`). It names a file in
 * QUOIN_FAILED_SUITES; without that file the run failed for a reason that no second run takes away.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'

const file = () => process.env.QUOIN_FAILED_SUITES

export function writeFailedSuites(suites: readonly string[]): void {
  const path = file()
  if (path !== undefined) writeFileSync(path, JSON.stringify(suites))
}

export function removeFailedSuites(): void {
  const path = file()
  if (path !== undefined) rmSync(path, { force: true })
}

/** None when the file is not there. */
export function readFailedSuites(path: string): readonly string[] {
  try {
    const suites: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return Array.isArray(suites) ? suites.map(String) : []
  } catch {
    return []
  }
}
