/**
 * Rows of the first table, this checkout against another one: is anything slower than it was? The folder holds a checkout
 * in which `npm start` has run once. Its endpoints are asked for the same, and its replies are not compared.
 *
 * Each round starts both again, in turns: two processes of one commit differed by up to 14 %, for as long as they ran.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Candidate, startQuoin } from './candidates.ts'
import { type Measured, measureRow, type Timing, type Void } from './measure.ts'
import { spread } from './report.ts'
import type { Row } from './rows.ts'
import { seed } from './seed.ts'
import { median, type Ratio } from './statistics.ts'

const here = fileURLToPath(new URL('..', import.meta.url))
/** Least ratio at which nothing is called slower. Ten pairs of one commit had a median of 1.06, so a few rounds do not tell. */
const LEAST = 0.97
/** Turns of each of the two in a row, in one round. */
const TURNS = 3

interface Compared {
  readonly row: Row
  readonly rate: Ratio
  readonly cpu: Ratio
}

/** False if a row is slower, or had an error. */
export async function compareAgainst(
  checkout: string,
  chosen: readonly Row[],
  { rounds, seconds }: Timing,
  core: number | undefined,
): Promise<boolean> {
  const comparable = chosen.filter(({ id }) => id !== 'where' || hasFile(checkout, 'where'))
  const measured: (Measured | Void)[] = []
  for (let round = 0; round < rounds; round++) {
    const list = await comparePair(checkout, comparable, { rounds: TURNS, seconds }, core, round % 2 === 0)
    console.log(`Round ${round + 1} of ${rounds}: ${list.map(shortly).join(' ')}`)
    measured.push(...list)
  }
  const outcomes = comparable.map((row) => overRounds(row, measured))
  for (const outcome of outcomes) console.log(againstLine(outcome))
  return outcomes.every((outcome) => !('reason' in outcome) && outcome.rate.median >= LEAST)
}

async function comparePair(
  checkout: string,
  chosen: readonly Row[],
  timing: Timing,
  core: number | undefined,
  isFirst: boolean,
): Promise<readonly (Measured | Void)[]> {
  const start = (folder: string) => startQuoin({ core, installs: false, checkout: folder })
  const folders = isFirst ? [here, checkout] : [checkout, here]
  const first = await start(folders[0] ?? here)
  try {
    const second = await start(folders[1] ?? here)
    try {
      const [ours, theirs] = isFirst ? [first, second] : [second, first]
      for (const name of ['constant', 'increment', 'where'].filter((name) => hasFile(checkout, name))) {
        await install(ours, here, name)
        await install(theirs, checkout, name)
      }
      const [a, b] = [await seed(ours), await seed(theirs)]
      const list: (Measured | Void)[] = []
      for (const row of chosen) list.push(await measureRow(row, a, b, timing))
      return list
    } finally {
      await second.close()
    }
  } finally {
    await first.close()
  }
}

const fileOf = (name: string) => `bench/${name}.blueprint.json`
const hasFile = (checkout: string, name: string) => existsSync(join(checkout, fileOf(name)))

/** With the command of that checkout and its own file: the API of blocks may have been another one then. */
async function install({ base, token }: Candidate, checkout: string, name: string): Promise<void> {
  const words = ['bin/quoin.mjs', 'import', fileOf(name), '--activate', '--url', base]
  const command = spawn(process.execPath, words, {
    cwd: checkout,
    env: { PATH: process.env.PATH, QUOIN_TOKEN: token },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(command, 'exit')
  if (code !== 0)
    throw new Error(`${join(checkout, fileOf(name))} could not be installed; the reason is above.`)
}

function overRounds(row: Row, measured: readonly (Measured | Void)[]): Compared | Void {
  const own = measured.filter((one) => one.row.id === row.id)
  const failed = own.find((one) => 'reason' in one)
  if (failed !== undefined) return failed
  const pairs = own.flatMap((one) => ('reason' in one ? [] : [one]))
  return {
    row,
    rate: ofMedians(pairs.map(({ ratio }) => ratio.median)),
    cpu: ofMedians(pairs.map(({ cpuRatio }) => cpuRatio.median)),
  }
}

function ofMedians(ratios: readonly number[]): Ratio {
  return { median: median(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios) }
}

function shortly(one: Measured | Void): string {
  return 'reason' in one ? `${one.row.id} failed` : `${one.row.id} ${one.ratio.median.toFixed(2)}`
}

/** `0.98 (0.95–1.02)  CPU 1.01  read one document by guid` */
function againstLine(outcome: Compared | Void): string {
  const { title } = outcome.row
  if ('reason' in outcome) return `void: ${title}: ${outcome.reason}`
  const { rate, cpu } = outcome
  const slower = rate.median < LEAST ? '  slower' : ''
  return `${spread(rate)}  CPU ${cpu.median.toFixed(2)}  ${title}${slower}`
}
