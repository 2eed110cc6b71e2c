/**
 * Which functions of the repository ran in a suite, as V8 counts them in this process. Loaded only where that is recorded
 * (`npm run affected -- --record`): tight loops take up to four times as long. What runs in other processes and in a browser is not seen.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../..')
const rootAddress = `${pathToFileURL(root).href}/`

/** Folder of what the suites of a recording wrote, a file for each suite and engine. */
export const recordings = join(root, 'node_modules/.cache/quoin-coverage')

/** What one suite wrote: by file below the root, where functions that ran begin. */
export interface SuiteCoverage {
  readonly suite: string
  readonly engine: string
  readonly ran: Readonly<Record<string, readonly number[]>>
}

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Forgets what ran before. */
export function beginSuite(): void {
  session.post('Profiler.takePreciseCoverage')
}

export function endSuite(suite: string, engine: string): void {
  // A session of its own thread answers before `post` returns.
  session.post('Profiler.takePreciseCoverage', (error, answer) => {
    if (error) throw error
    mkdirSync(recordings, { recursive: true })
    const coverage: SuiteCoverage = { suite, engine, ran: ranIn(answer.result) }
    writeFileSync(join(recordings, `${engine} ${suite.replaceAll('/', ' ')}.json`), JSON.stringify(coverage))
  })
}

function ranIn(scripts: readonly Profiler.ScriptCoverage[]): Record<string, number[]> {
  const ran: Record<string, number[]> = {}
  for (const { url, functions } of scripts) {
    if (!url.startsWith(rootAddress) || url.includes('/node_modules/') || !/\.tsx?$/.test(url)) continue
    // Suites themselves, and what records: it runs in all of them.
    if (url.endsWith('.test.ts') || /\/test\/(tiers|affected)\//.test(url)) continue
    // The module itself comes first, from 0: it runs in the first suite of a process only.
    const starts = functions.flatMap(({ ranges: [range] }) =>
      range && range.count > 0 && range.startOffset > 0 ? [range.startOffset] : [],
    )
    if (starts.length > 0) ran[fileURLToPath(url).slice(root.length + 1)] = starts
  }
  return ran
}
