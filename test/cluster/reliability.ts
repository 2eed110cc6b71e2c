/**
 * Writes docs/reliability.md from a storm: `npm run prove [-- --rounds N]`. Where a promise was broken it says which, leaves
 * the page alone and exits with 1. `npm run torture` runs the same storm among its parts and writes nothing.
 */
import { randomInt } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { randomSource } from '../torture/random-source.ts'
import { provePromises } from './prove-promises.ts'
import { reliabilityReport } from './reliability-report.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '6' }, schedules: { type: 'string', default: '40' } },
})
const rounds = Number(values.rounds)
if (!Number.isInteger(rounds) || rounds < 1) throw new RangeError('--rounds takes a whole number from 1 on.')

const { figures, broken } = await provePromises({
  rounds,
  schedules: Number(values.schedules),
  shuffled: randomSource(randomInt(2 ** 31), 'reliability').shuffled,
  tell: (line) => console.log(`${new Date().toISOString()} ${line}`),
})
console.log(JSON.stringify(figures, undefined, 2))
for (const line of broken) console.error(`BROKEN: ${line}`)
if (broken.length > 0) process.exitCode = 1
else {
  const date = new Date().toISOString().slice(0, 10)
  await writeFile(new URL('../../docs/reliability.md', import.meta.url), reliabilityReport(figures, { date }))
  console.log('Every promise was kept. docs/reliability.md is written.')
}
