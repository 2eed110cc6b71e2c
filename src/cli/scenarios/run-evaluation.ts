/** Runs the steps of an evaluation for each of its cases, each on a cluster as the first one found it. */
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { scoreOf } from './evaluation-cases.ts'
import { type LiveServers, type RunOptions, runScenario, type ScenarioResult } from './run-scenario.ts'
import type { InstalledApplication } from './scenario-cluster.ts'
import type { Scenario } from './scenario-file.ts'

export interface CaseScore {
  readonly case: string
  readonly score: number
  /** Why it has no score of its own: it counts as 0. */
  readonly problem?: string
}

export interface EvaluationResult extends ScenarioResult {
  /** Mean of all. */
  readonly score: number
  readonly cases: readonly CaseScore[]
}

/** What a report of another release says of an evaluation. */
export type FormerScores = Pick<EvaluationResult, 'name' | 'score' | 'cases'>

/** Cases that a failure names. */
const MOST_WORST = 5

export async function runEvaluation(
  application: InstalledApplication,
  { file, name, evaluation }: Scenario & Required<Pick<Scenario, 'evaluation'>>,
  options: RunOptions,
): Promise<EvaluationResult> {
  const cases: CaseScore[] = []
  let milliseconds = 0
  for (const [at, { values, scenario }] of evaluation.cases.entries()) {
    let last: JsonValue = null
    const answered = ({ body = null }: { readonly body?: JsonValue }) => {
      last = body
    }
    const result = await runScenario(application, onLive(scenario, options.live), { ...options, answered })
    milliseconds += result.milliseconds
    cases.push({
      case: nameOf(values, at),
      ...scored(result.failures[0], () => scoreOf(evaluation.score, last, values, 0)),
    })
  }
  const score = cases.reduce((sum, one) => sum + one.score, 0) / cases.length
  const failures = score >= evaluation.at_least ? [] : [failureOf(score, evaluation.at_least, cases)]
  return { file, name, failures, milliseconds, score, cases }
}

/** With the connections and secrets of servers that are asked. */
function onLive(scenario: Scenario, live: LiveServers | undefined): Scenario {
  if (!live) return scenario
  const { given } = scenario
  const names = new Set(live.connections.map(({ name }) => name))
  const others = (given.connections ?? []).filter(({ name }) => !names.has(name))
  const connections = [...others, ...live.connections]
  return { ...scenario, given: { ...given, connections, secrets: { ...given.secrets, ...live.secrets } } }
}

function scored(failure: string | undefined, score: () => number | string): Omit<CaseScore, 'case'> {
  const found = failure ?? score()
  return typeof found === 'number' ? { score: found } : { score: 0, problem: found }
}

function nameOf({ name }: JsonObject, at: number): string {
  return typeof name === 'string' && name !== '' ? name.slice(0, 200) : `case ${at + 1}`
}

function failureOf(score: number, least: number, cases: readonly CaseScore[]): string {
  const worst = cases.filter((one) => one.score < 1).toSorted((a, b) => a.score - b.score)
  const named = worst
    .slice(0, MOST_WORST)
    .map(
      ({ case: name, score: own, problem }) =>
        `${name} ${rounded(own)}${problem === undefined ? '' : ` (${problem})`}`,
    )
  return `score ${rounded(score)} of ${cases.length} cases, at least ${least}. Worst: ${named.join('; ')}`
}

export function rounded(score: number): string {
  return String(Math.round(score * 1000) / 1000)
}

/** How the scores differ from those of a report of another release: a line for each evaluation and each case that differs. */
export function comparedScores(
  results: readonly (ScenarioResult | EvaluationResult)[],
  before: readonly FormerScores[],
): readonly string[] {
  return results.flatMap((now) => {
    const then = before.find(({ name }) => name === now.name)
    if (!('cases' in now) || !then) return []
    const known = new Map(then.cases.map((one) => [one.case, one.score]))
    const changed = now.cases.flatMap(({ case: name, score }) => {
      const old = known.get(name)
      return old === undefined || old === score
        ? []
        : [`     ${score > old ? 'better' : 'worse'}: ${name} ${rounded(old)} → ${rounded(score)}`]
    })
    return [`${now.name}: ${rounded(then.score)} → ${rounded(now.score)}`, ...changed]
  })
}
