/** The file of one test of flows: what there is before it, its steps, and what is expected of each. Names are its only identity. */
import { readFile } from 'node:fs/promises'
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { moreFaults } from '../../applications/parts-problems.ts'
import { cellProblem } from '../../expressions/functions/cell-expression.ts'
import { anyJson } from '../../shared/api/record-schemas.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'
import { objectsIn } from '../../storage/document-fields.ts'
import { casesOf, type EvaluationParts, filledIn, scoreProblem } from './evaluation-cases.ts'

/** Bounds of one file: a test that needs more is several. */
const MOST_STEPS = 200
const MAX_INPUTS = 1_000
const MAX_BYTES = 4 * 1024 * 1024

const closed = { additionalProperties: false }
const name = Type.String({ minLength: 1, maxLength: 256 })
const fields = Type.Record(Type.String(), anyJson())
/** A duration: `90s`, `15m`, `2h`, `2d`. */
const Duration = Type.String({ pattern: '^\\d{1,6}[smhd]$' })

const UserSchema = Type.Object(
  {
    username: name,
    groups: Type.Optional(Type.Array(name, { maxItems: 50 })),
    scopes: Type.Optional(Type.Array(name, { maxItems: 100 })),
    email: Type.Optional(name),
  },
  closed,
)

const ReplySchema = Type.Object(
  {
    /** `POST https://pay.example/charges`; `*` at the end stands for anything. */
    to: Type.String({ pattern: '^[A-Z]+ https?://\\S+$', maxLength: 2_000 }),
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    body: Type.Optional(anyJson()),
  },
  closed,
)

const ScenarioInputSchema = Type.Object(
  {
    now: Type.Optional(Type.String({ maxLength: 40 })),
    users: Type.Optional(Type.Array(UserSchema, { maxItems: 50 })),
    documents: Type.Optional(Type.Record(Type.String(), Type.Array(fields, { maxItems: MAX_INPUTS }))),
    env: Type.Optional(fields),
    secrets: Type.Optional(Type.Record(Type.String(), Type.String())),
    connections: Type.Optional(Type.Array(fields, { maxItems: 50 })),
    replies: Type.Optional(Type.Array(ReplySchema, { maxItems: MAX_INPUTS })),
  },
  closed,
)

const ExpectSchema = Type.Object(
  {
    status: Type.Optional(Type.Union([Type.Integer(), Type.String({ pattern: '^=' })])),
    headers: Type.Optional(fields),
    body: Type.Optional(anyJson()),
    /** The address of the page that is seen at the end. */
    address: Type.Optional(anyJson()),
    /** All mails since the last step that expected some. */
    mails: Type.Optional(anyJson()),
    /** All calls of other servers since the last step that expected some. */
    calls: Type.Optional(anyJson()),
    /** How many runs wait. */
    waits: Type.Optional(Type.Integer({ minimum: 0 })),
    /** How many jobs are dead letters; 0 if not given. */
    dead: Type.Optional(Type.Integer({ minimum: 0 })),
    documents: Type.Optional(Type.Record(Type.String(), anyJson())),
  },
  closed,
)

const expect = Type.Optional(ExpectSchema)
const as = Type.Optional(name)

/** Reads a step of one kind; gives what is wrong with it, if anything is. */
function stepReader<K extends string, S extends TSchema>(kind: K, schema: S) {
  let compiled: ReturnType<typeof Compile<S>> | undefined
  return (step: unknown): ({ readonly kind: K } & Static<S>) | readonly string[] => {
    compiled ??= Compile(schema)
    return compiled.Check(step) ? { kind, ...step } : faultsOf(compiled.Errors(step))
  }
}

/** By the word that says what is done. */
const stepReaders = {
  request: stepReader(
    'request',
    Type.Object(
      {
        /** `POST /movements`: below /api/v1. A page is asked for at its own address: `page GET /goods`. */
        request: Type.String({
          pattern: '^(page )?(GET|POST|PUT|PATCH|DELETE|HEAD) /\\S*$',
          maxLength: 4_000,
        }),
        as,
        headers: Type.Optional(Type.Record(Type.String(), Type.String())),
        body: Type.Optional(anyJson()),
        expect,
      },
      closed,
    ),
  ),
  page: stepReader(
    'page',
    Type.Object(
      {
        /** Its address: `/goods/new`. */
        page: Type.String({ pattern: '^/\\S*$', maxLength: 4_000 }),
        as,
        /** By label or name. */
        fill: Type.Optional(
          Type.Record(
            Type.String(),
            Type.Union([
              Type.String(),
              Type.Number(),
              Type.Boolean(),
              Type.Array(Type.String(), { maxItems: 100 }),
              Type.Object({ file: name, text: Type.String() }, { additionalProperties: false }),
            ]),
          ),
        ),
        /** The words on a button or link. */
        press: Type.Optional(name),
        /** A text of the row in which that is. */
        row: Type.Optional(name),
        expect,
      },
      closed,
    ),
  ),
  event: stepReader(
    'event',
    Type.Object({ event: Type.Object({ storage: name, document: fields }, closed), expect }, closed),
  ),
  tick: stepReader('tick', Type.Object({ tick: name, expect }, closed)),
  call: stepReader('call', Type.Object({ call: name, parameters: Type.Optional(fields), expect }, closed)),
  advance: stepReader('advance', Type.Object({ advance: Duration, expect }, closed)),
  approve: stepReader(
    'approve',
    Type.Object({ approve: name, as, comment: Type.Optional(Type.String()), expect }, closed),
  ),
  reject: stepReader(
    'reject',
    Type.Object({ reject: name, as, comment: Type.Optional(Type.String()), expect }, closed),
  ),
  webhook: stepReader(
    'webhook',
    Type.Object({ webhook: name, body: Type.Optional(anyJson()), expect }, closed),
  ),
  expect: stepReader('expect', Type.Object({ expect: ExpectSchema }, closed)),
}

const ScenarioSchema = Type.Object(
  {
    $schema: Type.Optional(Type.String()),
    name,
    given: Type.Optional(ScenarioInputSchema),
    steps: Type.Array(Type.Record(Type.String(), anyJson()), { minItems: 1, maxItems: MOST_STEPS }),
    /** Of an evaluation: cases, or the name of a file beside this one with a case a line. */
    cases: Type.Optional(
      Type.Union([
        Type.String({ pattern: '^[\\w.-]{1,100}\\.ndjson$' }),
        Type.Array(fields, { minItems: 1, maxItems: MAX_INPUTS }),
      ]),
    ),
    score: Type.Optional(Type.String({ minLength: 2, maxLength: 10_000 })),
    at_least: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  },
  closed,
)

type StepKind = keyof typeof stepReaders
export type Step = Exclude<ReturnType<(typeof stepReaders)[StepKind]>, readonly string[]>
export type Expectation = Static<typeof ExpectSchema>
export type ScenarioInput = Static<typeof ScenarioInputSchema>
export type RecordedReply = Static<typeof ReplySchema>

export interface Scenario {
  /** Path of its file. */
  readonly file: string
  readonly name: string
  readonly given: ScenarioInput
  /** Of an evaluation none: its cases have them. */
  readonly steps: readonly Step[]
  readonly evaluation?: Evaluation
}

interface Evaluation extends Pick<EvaluationParts, 'score' | 'at_least'> {
  readonly cases: readonly { readonly values: JsonObject; readonly scenario: Scenario }[]
}

/** Thrown with a message for each thing that is wrong with a file: `tests/a.test.json: steps.2.expect: …`. */
export class ScenarioFileError extends Error {
  readonly problems: readonly string[]

  constructor(file: string, problems: readonly string[]) {
    super(problems.map((problem) => `${file}: ${problem}`).join('\n'))
    this.problems = problems
  }
}

/** Throws {@link ScenarioFileError}. */
export async function readScenario(file: string): Promise<Scenario> {
  const text = await readFile(file, 'utf8')
  if (text.length > MAX_BYTES) throw new ScenarioFileError(file, [`is larger than ${MAX_BYTES} bytes.`])
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new ScenarioFileError(file, [
      `is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    ])
  }
  const read = await evaluationOf(json, file)
  if ('problems' in read) throw new ScenarioFileError(file, read.problems)
  return { file, ...read }
}

/** Everything that is wrong with the content of such a file. Steps of an evaluation are read when it runs, as its cases fill them. */
export function scenarioProblems(json: JsonObject): readonly string[] {
  schema ??= Compile(ScenarioSchema)
  moreFaults()
  const found = schema.Check(json) ? [] : faultsOf(schema.Errors(json))
  const { given, cases, score } = json
  const now = isJsonObject(given) ? given.now : undefined
  if (typeof now === 'string' && Number.isNaN(Date.parse(now))) found.push(`given.now is no time: ${now}`)
  if (cases !== undefined || score !== undefined) {
    const read = scenarioOf(json)
    return found.length === 0 && 'problems' in read ? read.problems : found
  }
  for (const [at, step] of objectsIn(json.steps).slice(0, MOST_STEPS).entries()) {
    readStep(step, `steps.${at}`, found)
    found.push(...conditionProblems(step.expect, `steps.${at}.expect`))
  }
  return found
}

/** Of all conditions within what is expected. */
function conditionProblems(expected: JsonValue | undefined, path: string): readonly string[] {
  if (typeof expected === 'string' && expected.startsWith('=')) {
    const problem = cellProblem(expected.slice(1))
    return problem === undefined ? [] : [`${path}: the condition ${expected} cannot be read: ${problem}`]
  }
  if (typeof expected !== 'object' || expected === null) return []
  return Object.entries(expected).flatMap(([name, one]) => conditionProblems(one, `${path}.${name}`))
}

let schema: ReturnType<typeof Compile<typeof ScenarioSchema>> | undefined

function scenarioOf(json: unknown): Omit<Scenario, 'file'> | { readonly problems: readonly string[] } {
  schema ??= Compile(ScenarioSchema)
  if (!schema.Check(json)) return { problems: faultsOf(schema.Errors(json)) }
  const { cases, score, at_least: least } = json
  if ([cases, score, least].some((one) => one !== undefined)) {
    if (cases === undefined || score === undefined || least === undefined)
      return { problems: ['An evaluation needs all of cases, score and at_least.'] }
    const problem = scoreProblem(score)
    return problem === undefined
      ? { name: json.name, given: json.given ?? {}, steps: [] }
      : { problems: [problem] }
  }
  const problems: string[] = []
  const steps = json.steps.flatMap((step, at) => readStep(step, `steps.${at}`, problems))
  return problems.length > 0 ? { problems } : { name: json.name, given: json.given ?? {}, steps }
}

type Read = ReturnType<typeof scenarioOf>

/** The same, with the cases of an evaluation: each is a scenario with its values in the steps, and its replies before the others. */
async function evaluationOf(json: unknown, file: string): Promise<Read> {
  const read = scenarioOf(json)
  if ('problems' in read || !schema?.Check(json)) return read
  const { cases: source, score, at_least: least, given = {}, name: title, steps } = json
  if (source === undefined || score === undefined || least === undefined) return read
  const found = await casesOf(source, file)
  if (typeof found === 'string') return { problems: [found] }
  const problems: string[] = []
  const cases = found.flatMap((values, at) => {
    const own = Array.isArray(values.replies) ? values.replies : []
    const replies = [...own, ...(given.replies ?? [])]
    const one = scenarioOf({ name: title, given: { ...given, replies }, steps: filledIn(steps, values) })
    if (!('problems' in one)) return [{ values, scenario: { file, ...one } }]
    problems.push(...one.problems.map((problem) => `case ${at + 1}: ${problem}`))
    return []
  })
  if (problems.length > 0) return { problems: problems.slice(0, 20) }
  return { ...read, evaluation: { score, at_least: least, cases } }
}

const kinds = Object.keys(stepReaders)

function readStep(step: Readonly<Record<string, JsonValue>>, path: string, problems: string[]): Step[] {
  const named = Object.keys(step).filter((word) => kinds.includes(word) && word !== 'expect')
  const [kind = 'expect' in step ? 'expect' : '', ...others] = named
  if (!isKind(kind) || others.length > 0) {
    const input = Object.keys(step).join(', ') || 'nothing'
    problems.push(`${path} must have one of ${kinds.join(', ')}, and has ${input}.`)
    return []
  }
  const read = stepReaders[kind](step)
  if (!isFaults(read)) return [read]
  problems.push(...read.map((fault) => `${path}.${fault}`))
  return []
}

function isKind(word: string): word is StepKind {
  return Object.hasOwn(stepReaders, word)
}

function isFaults(read: Step | readonly string[]): read is readonly string[] {
  return Array.isArray(read)
}

type Fault = ReturnType<ReturnType<typeof Compile>['Errors']>[number]

/** `steps.0.status: must be integer.` */
function faultsOf(faults: readonly Fault[]): string[] {
  const found = new Set<string>()
  for (const { keyword, instancePath, message, params } of faults) {
    const at = instancePath.slice(1).replaceAll('/', '.')
    const inside = (name: string) => (at === '' ? name : `${at}.${name}`)
    if (keyword === 'required')
      for (const one of params.requiredProperties) found.add(`${inside(one)} is missing.`)
    else if (keyword === 'additionalProperties')
      for (const one of params.additionalProperties) found.add(`${inside(one)} is unknown.`)
    else if (keyword !== 'boolean') found.add(`${at} ${message}.`)
  }
  return [...found]
}
