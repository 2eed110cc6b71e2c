/** Reports of `quoin test --reporter json`: what the scores of evaluations are, and how they differ from those of another release. Pure. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../shared/json.ts'
import { applicationsTexts } from '../../texts/applications.ts'

/** Of a file: 1,000 tests with 1,000 cases have about 60 MB, which is too much for a screen. */
export const MOST_OF_REPORT = 8 * 1024 * 1024

export interface CaseScore {
  readonly name: string
  readonly score: number
  /** In the other report. */
  readonly before: number | undefined
  readonly problem: string
}

export interface ReportedTest {
  readonly name: string
  readonly failures: readonly string[]
  /** Of evaluations only. */
  readonly score: number | undefined
  readonly before: number | undefined
  /** Those that are worse than before first, then those that are better, then the lowest. */
  readonly cases: readonly CaseScore[]
}

type Report = readonly JsonObject[]

/** Throws an Error that says what is wrong with the file. */
export function readReport(text: string): Report {
  const read = parsed(text)
  if (!Array.isArray(read)) throw new Error(applicationsTexts.noReport)
  const tests = read.filter(isJsonObject).filter(({ name }) => typeof name === 'string')
  if (tests.length === 0 || tests.length < read.length) throw new Error(applicationsTexts.noReport)
  return tests
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(applicationsTexts.noReport)
  }
}

/** Evaluations first, those that are worse before all others. */
export function comparedReports(now: Report, before: Report): readonly ReportedTest[] {
  const former = new Map(before.map((one) => [String(one.name), one]))
  const tests = now.map((one) => {
    const then = former.get(String(one.name))
    const known = new Map(casesOf(then).map((each) => [String(each.case), numberOf(each.score)]))
    const cases = casesOf(one).map((each) => ({
      name: String(each.case),
      score: numberOf(each.score) ?? 0,
      before: known.get(String(each.case)),
      problem: typeof each.problem === 'string' ? each.problem : '',
    }))
    return {
      name: String(one.name),
      failures: Array.isArray(one.failures) ? one.failures.map(String) : [],
      score: numberOf(one.score),
      before: numberOf(then?.score),
      cases: cases.toSorted((a, b) => rankOf(a) - rankOf(b) || a.score - b.score),
    }
  })
  return tests.toSorted((a, b) => placeOf(a) - placeOf(b))
}

export function changeOf({
  score = 0,
  before,
}: Pick<ReportedTest, 'score' | 'before'>): 'worse' | 'better' | 'same' {
  if (before === undefined || before === score) return 'same'
  return score < before ? 'worse' : 'better'
}

/** `0.8333` is 83 %. */
export function percent(score: number): string {
  return `${Math.round(score * 1_000) / 10} %`
}

const ranks = { worse: 0, better: 1, same: 2 } as const

function rankOf(one: Pick<ReportedTest, 'score' | 'before'>): number {
  return ranks[changeOf(one)]
}

function placeOf(test: ReportedTest): number {
  return test.score === undefined ? 4 - Math.min(1, test.failures.length) : rankOf(test)
}

function casesOf(test: JsonObject | undefined): readonly JsonObject[] {
  return Array.isArray(test?.cases) ? test.cases.filter(isJsonObject) : []
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined
}
