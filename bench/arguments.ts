/** What is asked for on the command line of `npm run bench`. */
import { parseArgs } from 'node:util'
import { agents } from './alone/agents.ts'
import type { Goal } from './alone/goal.ts'
import { goals, longGoals } from './alone/goals.ts'
import type { Timing } from './measure.ts'
import { type Row, rows } from './rows.ts'
import { wrkRows } from './wrk/bench-wrk.ts'

/** What has a section of its own in the report. */
const parts = ['memory', 'nodes', 'postgres', 'pages', 'studio', 'growing'] as const
export type Part = (typeof parts)[number]

const SOAK = 'soak'
/** All of the first table. */
const ROWS = 'rows'
/** The three goals of agents. */
const AGENTS = 'agents'
const allGoals = [...goals, ...longGoals]
const names = [...[...rows, ...allGoals].map(({ id }) => id), ...parts, SOAK, ROWS, AGENTS]

export const usage = `npm run bench -- [--check] [--rounds 5] [--seconds 2] [--goals] [--load wrk] [--profile] [--against <folder>] [--only ${names.join('|')}]`

export interface BenchRequest extends Omit<Timing, 'seconds'> {
  /** Counting instead of timing, and nothing else. */
  readonly check: boolean
  /** The goals and what was measured last, and nothing else. */
  readonly goalsOnly: boolean
  /** undefined: what the measurement itself proposes. */
  readonly seconds: number | undefined
  /** Whether everything is measured that does not have to be asked for by name. */
  readonly whole: boolean
  /** Whether the page is written again, with the first table. */
  readonly writesPage: boolean
  readonly rows: readonly Row[]
  readonly goals: readonly Goal[]
  readonly parts: readonly Part[]
  readonly soak: boolean
  /** Which load generator the rows have. */
  readonly load: 'ours' | 'wrk'
  /** Profiles of rows instead of figures. */
  readonly profile: boolean
  /** The folder of another checkout, which the rows are compared with instead of what is written by hand. */
  readonly against: string | undefined
}

/** Throws an Error that says which argument is wrong. */
export function readArguments(): BenchRequest {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      goals: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      load: { type: 'string', default: 'ours' },
      profile: { type: 'boolean', default: false },
      against: { type: 'string' },
    },
  })
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds is ${values.rounds}; it must be 1 or more.`)
  const seconds = values.seconds === undefined ? undefined : Number(values.seconds)
  if (seconds !== undefined && !(seconds > 0 && seconds <= 3600))
    throw new Error(`--seconds is ${values.seconds}; it must be up to 3600.`)
  const { only, load, profile, against } = values
  if (load !== 'ours' && load !== 'wrk') throw new Error(`--load is ${load}; it must be wrk.`)
  if (only !== undefined && !names.includes(only))
    throw new Error(`--only is ${only}; there is nothing of that name.`)
  const isOfRows = load === 'wrk' || profile || against !== undefined
  const allRows = only === undefined || only === ROWS
  if (isOfRows && !allRows && !rows.some(({ id }) => id === only))
    throw new Error(`--only is ${only}; --load, --profile and --against are for rows of the first table.`)
  const isNamed = (goal: Goal) => goal.id === only || (only === AGENTS && agents.includes(goal))
  const isChosen = (id: string) => only === undefined || id === only
  return {
    check: values.check,
    goalsOnly: values.goals,
    rounds,
    seconds,
    whole: only === undefined && !isOfRows,
    writesPage: allRows && !isOfRows,
    rows: rows.filter(({ id }) =>
      load === 'wrk' && allRows ? wrkRows.includes(id) : allRows || id === only,
    ),
    against,
    // What takes minutes has to be asked for by name.
    goals: isOfRows ? [] : only === undefined ? goals : allGoals.filter(isNamed),
    parts: isOfRows ? [] : parts.filter(isChosen),
    soak: only === SOAK,
    load,
    profile,
  }
}
