/**
 * The checks that are slow by nature: `npm run torture [-- --seed N --seconds N --only part,part --short --pages]`. Runs each part
 * of `parts/` for about so many seconds, then its control, prints a table, and exits with 1 when a part failed.
 */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findParts } from './find-parts.ts'
import { outcomeLine, outcomeTable } from './outcome-table.ts'
import { openRunFolder } from './run-folder.ts'
import { runPart, type TortureOutcome } from './run-part.ts'
import { openServerGuard } from './server-guard/server-guard.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string' },
    short: { type: 'boolean', default: false },
    pages: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const { short, pages } = values
const seed = whole('seed', values.seed ?? String(randomInt(2 ** 31)))
const seconds = whole('seconds', values.seconds ?? (short ? '5' : '120'))
const parts = await findParts(values.only?.split(',').map((name) => name.trim()))
if (values.help) {
  console.log('npm run torture [-- --seed N --seconds N --only part,part --short --pages]\n')
  for (const { name, summary } of parts) console.log(`${name.padEnd(16)}${summary}`)
  process.exit(0)
}

const stopped = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (stopped.signal.aborted) return
    console.log(`${signal}: ending what was started`)
    stopped.abort(new Error(`stopped by ${signal}`))
  })
const folder = openRunFolder((path) => {
  process.env.TMPDIR = path
})
const guard = openServerGuard(join(folder.path, 'server-guard'))
Object.assign(process.env, guard.settings)

console.log(
  `Seed ${seed}. The same choices again: npm run torture -- --seed ${seed}${short ? ' --short' : ''}`,
)
const tell = (line: string) => console.log(`${new Date().toISOString()} ${line}`)
const outcomes: TortureOutcome[] = []
try {
  for (const part of parts) {
    if (stopped.signal.aborted) break
    tell(part.name)
    outcomes.push(await runPart(part, { seed, seconds, short, pages, signal: stopped.signal, tell, guard }))
  }
} finally {
  const ended = await folder.clear()
  if (ended > 0) tell(`${ended} processes were left over and ended`)
}
const names = parts.map(({ name }) => name)
const line = outcomeLine(outcomes, names)
console.log(`\n${outcomeTable(outcomes)}\n\nSeed ${seed}. ${line}`)
// A part that hangs may hold the process open.
process.exit(
  outcomes.every(({ failures }) => failures.length === 0) && outcomes.length === names.length ? 0 : 1,
)

function whole(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 0)
    throw new RangeError(`--${name} must be a whole number; got "${text}"`)
  return number
}
