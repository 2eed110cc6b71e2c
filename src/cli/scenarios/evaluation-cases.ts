/** Evaluations: the steps of one test for each of many cases, with a score in place of one expectation. */
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cellProblem, compileCell } from '../../expressions/functions/cell-expression.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'

const MOST_CASES = 1_000
const MOST_BYTES = 16 * 1024 * 1024

/** What a file says of an evaluation. */
export interface EvaluationParts {
  readonly cases: string | readonly JsonObject[]
  /** An expression over `value`, the reply of the last step, and `doc`, the case: from 0 to 1, or a condition. */
  readonly score: string
  /** Mean of all scores. */
  readonly at_least: number
}

/** The cases of the file, or a sentence that says what is wrong. A name stands for a file beside the test: a case a line. */
export async function casesOf(
  cases: EvaluationParts['cases'],
  file: string,
): Promise<readonly JsonObject[] | string> {
  const found = typeof cases === 'string' ? await casesIn(join(dirname(file), cases)) : cases
  if (typeof found === 'string') return found
  if (found.length === 0) return 'cases has no case.'
  return found.length > MOST_CASES ? `cases has more than ${MOST_CASES} cases.` : found
}

async function casesIn(path: string): Promise<readonly JsonObject[] | string> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return `cases names ${path}, which cannot be read.`
  if (text.length > MOST_BYTES) return `cases names ${path}, which has more than ${MOST_BYTES} bytes.`
  const found: JsonObject[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const value = parsed(line)
    if (!isJsonObject(value)) return `${path}, line ${at + 1}: a line must be a case: { … }.`
    found.push(value)
  }
  return found
}

function parsed(line: string): JsonValue | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const WHOLE = /^\{case\.(\w{1,100})\}$/
const PART = /\{case\.(\w{1,100})\}/g

/** The value with what the case has: `{case.name}` alone is its value, and in a longer text the text of it. */
export function filledIn(value: JsonValue, one: JsonObject): JsonValue {
  if (typeof value === 'string') {
    const whole = WHOLE.exec(value)?.[1]
    if (whole !== undefined) return fieldOf(one, whole)
    return value.replace(PART, (_, name: string) => {
      const field = fieldOf(one, name)
      return typeof field === 'string' ? field : JSON.stringify(field)
    })
  }
  if (Array.isArray(value)) return value.map((item) => filledIn(item, one))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filledIn(item, one)]))
}

function fieldOf(one: JsonObject, name: string): JsonValue {
  return Object.hasOwn(one, name) ? (one[name] ?? null) : null
}

/** What is wrong with the expression of a score, or undefined. */
export function scoreProblem(score: string): string | undefined {
  const problem = score.startsWith('=') ? cellProblem(score.slice(1)) : 'it must begin with =.'
  return problem === undefined ? undefined : `score cannot be read: ${problem}`
}

/** From 0 to 1, or a sentence that says why there is none. */
export function scoreOf(score: string, value: JsonValue, one: JsonObject, now: number): number | string {
  const context = {
    now: () => now,
    random: (bytes: number) => new Uint8Array(bytes),
    ...{ timeZone: 'UTC', locale: 'en-US', spend: () => undefined },
  }
  try {
    const found = compileCell(score.slice(1), []).evaluate({ doc: one, value, context })
    if (typeof found === 'boolean') return found ? 1 : 0
    if (typeof found === 'number' && found >= 0 && found <= 1) return found
    return `score must be from 0 to 1, or true or false; got ${JSON.stringify(found)?.slice(0, 100)}`
  } catch (error) {
    return `score failed: ${error instanceof Error ? error.message : String(error)}`
  }
}
