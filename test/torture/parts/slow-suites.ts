import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { JsonObject } from '../../../src/shared/json.ts'
import { recordIn, recordsIn } from '../../json-at.ts'
import type { TortureContext, TorturePart, TortureResult } from '../torture-part.ts'

const root = join(import.meta.dirname, '..', '..', '..')

const slowSuites: TorturePart = {
  name: 'slow-suites',
  summary: 'Tests in *.torture.test.ts, which take too long for npm run test:all.',
  run: (context) => runSuites('slow*', context),
  control: (context) => runSuites('control', context),
}
export default slowSuites

/** Projects of `vitest.torture.config.ts`. */
async function runSuites(project: string, { signal, tell }: TortureContext): Promise<TortureResult> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-torture-'))
  const report = join(folder, 'report.json')
  try {
    const words = ['run', '--config=vitest.torture.config.ts', `--project=${project}`, '--reporter=default']
    const child = spawn(
      process.execPath,
      [
        join(root, 'node_modules', 'vitest', 'vitest.mjs'),
        ...words,
        '--reporter=json',
        `--outputFile=${report}`,
      ],
      { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], signal },
    )
    const lines = createInterface({ input: child.stdout })
    lines.on('line', (line) => tell(line))
    const [code] = await once(child, 'close')
    const reported = recordIn(JSON.parse(await readFile(report, 'utf8')))
    const failures = recordsIn(reported.testResults).flatMap(failuresOf)
    // Errors outside of tests are in the exit code only.
    if (code !== 0 && failures.length === 0) failures.push(`vitest ended with ${code}`)
    const skipped = Number(reported.numPendingTests)
    return { checked: Number(reported.numPassedTests) + failures.length, failures, figures: { skipped } }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function failuresOf({ assertionResults, message, status, name }: JsonObject): string[] {
  const failed = recordsIn(assertionResults).filter((each) => each.status === 'failed')
  const whole = failed.length === 0 && status === 'failed' ? [`${name}: ${message}`] : []
  return [...failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages}`), ...whole]
}
