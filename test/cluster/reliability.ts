/**
 * The long form of the proof: `npm run prove [-- --rounds N]`. Each round has every fault once, in random order. Writes
 * docs/reliability.md; where a promise was broken it says which, leaves the page alone and exits with 1.
 */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type FaultKind, faultKinds } from './faults.ts'
import { reliabilityReport } from './reliability-report.ts'
import { storm } from './storm.ts'
import { violations } from './violations.ts'

const LEAST_TICKS = 10_000

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '6' }, schedules: { type: 'string', default: '40' } },
})
const rounds = Number(values.rounds)
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError('--rounds takes a whole number from 1 on.')

const faults = Array.from({ length: rounds }, (): readonly FaultKind[] => shuffled(faultKinds)).flat()
const figures = await storm({
  clients: 16,
  pause: 60,
  schedules: Number(values.schedules),
  calm: 3_000,
  faults,
  tell: (line) => console.log(`${new Date().toISOString()} ${line}`),
})
console.log(JSON.stringify(figures, undefined, 2))
const broken = violations(figures)
if (rounds >= 5 && figures.ticks.ticks < LEAST_TICKS)
  broken.push(`only ${figures.ticks.ticks} ticks: too few to say anything`)
for (const line of broken) console.error(`BROKEN: ${line}`)
if (broken.length > 0) process.exitCode = 1
else {
  const date = new Date().toISOString().slice(0, 10)
  await writeFile(new URL('../../docs/reliability.md', import.meta.url), reliabilityReport(figures, { date }))
  console.log('Every promise was kept. docs/reliability.md is written.')
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item)
}
