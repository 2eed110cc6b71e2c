/** Blocks of extensions: what a definition may hold, and a block of Quoin made of it, whose code runs in a sandbox. */
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { type JsonObject, type JsonValue, memberOf, sameJson } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import { asSettings } from '../as-user.ts'
import { defineFlow, type FlowBlock, type FlowResult, PinError } from '../block.ts'
import type { Effects } from '../effects.ts'
import { definitionProblems } from '../load-blocks.ts'
import { failureOf, runAsking, type Surroundings } from '../logic/asking-code.ts'
import type { InPins, OutPins } from '../pin.ts'
import { converterFor, finishPin } from '../pins/convert-pin.ts'
import { readSettings } from '../pins/read-settings.ts'
import type { Settings } from '../setting.ts'
import { extensionAnswer, type Permissions } from './extension-answers.ts'

/** The code of an extension, all of it. */
export interface ExtensionCode {
  /** Its prefix. */
  readonly name: string
  readonly version: string
  /** Of all that it is: manifest, permissions and modules. */
  readonly hash: string
  readonly permissions: Permissions
  /** By path below its folder. */
  readonly modules: Readonly<Record<string, string>>
}

/** Characters of one definition. */
const MOST_DEFINITION = 64 * 1024
/** Milliseconds of processor time. */
const DESCRIBING = 500
const RUNNING = 500
const MOST_LOGS = 100

/** Of the types whose values are JSON. */
const inTypes = [
  ...(['value', 'line', 'number', 'condition', 'object', 'array', 'date'] as const),
  ...(['document', 'documents', 'user', 'file', 'any', 'http_connection'] as const),
]
const outTypes = [
  ...(['flow', 'value', 'line', 'number', 'condition', 'object', 'array'] as const),
  ...(['document', 'documents', 'any'] as const),
]

const help = Type.String({ minLength: 1, maxLength: 2000 })
const exact = { additionalProperties: false } as const
const isTrue = Type.Optional(Type.Literal(true))

const inPin = Type.Object(
  {
    type: Type.Enum([...inTypes]),
    help,
    required: isTrue,
    several: isTrue,
    integer: isTrue,
    default: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    choices: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 200 })),
  },
  exact,
)
const outPin = Type.Object({ type: Type.Enum([...outTypes]), help }, exact)
const setting = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('text'),
      help,
      required: isTrue,
      lines: isTrue,
      default: Type.Optional(Type.String()),
    },
    exact,
  ),
  Type.Object(
    {
      ...{ kind: Type.Literal('number'), help, required: isTrue, default: Type.Optional(Type.Number()) },
      ...{ min: Type.Optional(Type.Number()), max: Type.Optional(Type.Number()) },
    },
    exact,
  ),
  Type.Object({ kind: Type.Literal('switch'), help, default: Type.Optional(Type.Boolean()) }, exact),
  Type.Object(
    {
      ...{ kind: Type.Literal('choice'), help, required: isTrue, default: Type.Optional(Type.String()) },
      options: Type.Array(Type.String({ maxLength: 200 }), { minItems: 1, maxItems: 200 }),
    },
    exact,
  ),
])
const byName = { maxProperties: 100 } as const

/** As the default export of a module says it, without its function. */
export const extensionDefinition = Type.Object(
  {
    identifier: Type.String({ maxLength: 100 }),
    title: Type.String({ maxLength: 100 }),
    summary: Type.String({ maxLength: 2000 }),
    words: Type.Optional(Type.String({ maxLength: 500 })),
    in: Type.Record(Type.String({ maxLength: 60 }), inPin, byName),
    out: Type.Record(Type.String({ maxLength: 60 }), outPin, byName),
    settings: Type.Optional(Type.Record(Type.String({ maxLength: 60 }), setting, byName)),
    effects: Type.Optional(
      Type.Object(
        {
          reads: isTrue,
          writes: Type.Optional(Type.Enum(['creates', 'changes', 'removes'])),
          calls: isTrue,
        },
        exact,
      ),
    ),
  },
  exact,
)
export type ExtensionDefinition = Type.Static<typeof extensionDefinition>

const definitions = Compile(extensionDefinition)

/** A definition, or what is wrong with it in words that finish "The block …". */
type Described = { readonly definition: ExtensionDefinition } | { readonly problem: string }

/** Loads the module in the sandbox, and reads what it says of its block. Never throws for what the module does. */
export async function describedBlock(
  code: ExtensionCode,
  entry: string,
  signal: AbortSignal,
): Promise<Described> {
  const { runCode } = await import('../logic/code-threads.ts')
  const call = { code: code.hash, modules: code.modules, entry, input: '', timeout: DESCRIBING }
  const outcome = await runCode(call, signal)
  if (outcome.kind !== 'given') return { problem: `cannot be loaded: it ${failureOf(outcome, DESCRIBING)}` }
  const { text = '' } = outcome
  if (text.length > MOST_DEFINITION)
    return { problem: `has a definition of over ${MOST_DEFINITION.toLocaleString('en')} characters` }
  const read = readJson(text)
  const [said, kind]: readonly JsonValue[] = 'value' in read && Array.isArray(read.value) ? read.value : []
  if (kind !== 'function') return { problem: 'is no default export of defineFlow with a function run' }
  return definitionOf(code, said, entry)
}

function definitionOf(code: ExtensionCode, said: JsonValue | undefined, entry: string): Described {
  if (!definitions.Check(said)) {
    const [first] = definitions.Errors(said)
    const place = first?.instancePath.slice(1).replaceAll('/', '.') ?? ''
    return {
      problem: `has a definition that is none: ${place === '' ? '' : `${place} `}${first?.message ?? ''}`,
    }
  }
  const name = entry.slice(entry.lastIndexOf('/') + 1).replace(/\.m?js$/, '')
  if (!said.identifier.startsWith(`${code.name}_`))
    return { problem: `calls itself ${said.identifier}: blocks of this extension begin with ${code.name}_` }
  if (Object.hasOwn(said.settings ?? {}, 'as')) return { problem: 'has the setting as, which Quoin adds' }
  const unpermitted = unpermittedEffect(said, code.permissions)
  if (unpermitted) return { problem: unpermitted }
  const [problem] = definitionProblems(extensionBlock(code, said, entry), name)
  return problem === undefined ? { definition: said } : { problem }
}

function unpermittedEffect(
  { effects = {} }: ExtensionDefinition,
  { hosts, read, write }: Permissions,
): string | undefined {
  if (effects.calls && hosts.length === 0) return 'calls servers, and the extension names no hosts'
  if (effects.reads && read.length === 0) return 'reads documents, and the extension names no storages for it'
  if (effects.writes && write.length === 0)
    return 'changes documents, and the extension names no storages for it'
  return undefined
}

/** The block as flows run it. */
export function extensionBlock(
  code: ExtensionCode,
  definition: ExtensionDefinition,
  entry: string,
): FlowBlock {
  const { identifier, title, words, summary, effects = {} } = definition
  const documents = effects.reads || effects.writes
  const settings: Settings = { ...definition.settings, ...(documents && asSettings) }
  const ins: InPins = definition.in
  const outs: OutPins = definition.out
  return defineFlow({
    ...{ identifier, title, summary, in: ins, out: outs, settings },
    ...(words !== undefined && { words }),
    effects: effectsFor(effects),
    run(inputs, context) {
      const { as: _as, ...settings } = context.settings
      const asking = { permissions: code.permissions, effects, inputs }
      const { signal, log } = context
      return runExtension({ code, definition, entry }, inputs, {
        ...{ settings, signal },
        log: (value) => log('info', value),
        answer: (request) => extensionAnswer(request, asking, context),
      })
    },
  })
}

function effectsFor({ reads, writes, calls }: NonNullable<ExtensionDefinition['effects']>): Effects {
  // Its code has neither clock nor randomness that is no input.
  if (!reads && !writes && !calls) return { cacheable: true }
  return { ...(reads && { reads }), ...(writes && { writes }), ...(calls && { calls: 'external' }) }
}

interface ExtensionRun {
  readonly code: ExtensionCode
  readonly definition: ExtensionDefinition
  readonly entry: string
}

/** What a run of it has around it. */
interface Around extends Surroundings {
  log(value: JsonValue): void
}

async function runExtension(
  { code, definition, entry }: ExtensionRun,
  inputs: Readonly<Record<string, unknown>>,
  around: Around,
): Promise<FlowResult<OutPins>> {
  const { now, seed } = inputs
  const asking = {
    ...{ code: code.hash, modules: code.modules, entry, timeout: RUNNING },
    ...(now instanceof Date && { now: now.getTime() }),
    ...(typeof seed === 'string' && { seed }),
  }
  const text = await runAsking(asking, inputs, { ...around, failed: (what) => failed(code, what) })
  return resultOf(code, definition, text, around)
}

function resultOf(
  code: ExtensionCode,
  { out }: ExtensionDefinition,
  text: string | undefined,
  around: Pick<Around, 'log'>,
): FlowResult<OutPins> {
  const read = readJson(text ?? '')
  if ('problem' in read) throw failed(code, `returned what cannot be used: its JSON ${read.problem}`)
  const [result, logs]: readonly JsonValue[] = Array.isArray(read.value) ? read.value : []
  for (const one of Array.isArray(logs) ? logs.slice(0, MOST_LOGS) : []) around.log(one)
  if (result === null || result === undefined) return {}
  if (typeof result !== 'object' || Array.isArray(result))
    throw failed(code, 'must return an object with a value for each out-pin')
  const gives: Record<string, JsonValue> = {}
  for (const [pin, value] of Object.entries(result)) {
    const says = pin === 'next' ? wayOf(out, value) : givenValue(out, pin, value)
    if ('problem' in says) throw failed(code, says.problem)
    if (says.value !== null) gives[pin] = says.value
  }
  return gives
}

type Says = { readonly value: JsonValue } | { readonly problem: string }

function wayOf(out: OutPins, way: JsonValue | undefined): Says {
  if (way === 'flow' || way === null) return { value: way }
  const isWay = typeof way === 'string' && Object.hasOwn(out, way) && out[way]?.type === 'flow'
  return isWay ? { value: way } : { problem: `returned the way ${shortened(way)}, which it does not have` }
}

/** As the pin promises it: those behind it take it as it is. */
function givenValue(out: OutPins, pin: string, value: JsonValue | undefined): Says {
  const known = Object.hasOwn(out, pin) ? out[pin] : undefined
  if (known === undefined || known.type === 'flow')
    return { problem: `returned a value for the pin ${shortened(pin)}, which it does not have` }
  try {
    if (value === null || value === undefined) return { value: null }
    const converted: unknown = converterFor(pin, { type: known.type, help: known.help }, 'any')(value)
    // What pins of JSON give for JSON is JSON.
    return { value: converted === undefined ? null : JSON.parse(JSON.stringify(converted)) }
  } catch (error) {
    const why = error instanceof Error ? error.message : 'does not fit'
    return { problem: `returned a value for the pin ${pin} that ${why}` }
  }
}

function shortened(word: JsonValue | undefined): string {
  return String(word).slice(0, 60)
}

/** A row of a test of a block: what it gets, what it is answered in this order, and what it gives. */
export interface TriedRow {
  readonly inputs?: JsonObject
  readonly settings?: JsonObject
  /** Each asks for what `ask` says, such as ["get", "customers", "1"]. */
  readonly answers?: readonly {
    readonly ask: JsonValue
    readonly value?: JsonValue
    readonly problem?: string
  }[]
}

/** Runs the block as a flow would, but that answers come from the row. Throws what a run would. */
export async function tryBlock(
  code: ExtensionCode,
  { definition, entry }: { readonly definition: ExtensionDefinition; readonly entry: string },
  row: TriedRow,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { settings } = extensionBlock(code, definition, entry)
  const read = readSettings(settings, row.settings ?? {})
  const [problem] = read.problems
  if (problem) throw new PinError(problem.setting, problem.message)
  const values = row.inputs ?? {}
  const unknown = Object.keys(values).find((pin) => !Object.hasOwn(definition.in, pin))
  if (unknown !== undefined) throw new PinError(unknown, 'is no in-pin of the block')
  const inputs = Object.entries(definition.in).flatMap(([pin, about]): [string, unknown][] => {
    const value = memberOf(values, pin)
    if (about.type === 'http_connection') return value === undefined ? [] : [[pin, { connection: pin }]]
    const converted = value === undefined ? undefined : converterFor(pin, about, 'any')(value)
    return [[pin, finishPin(pin, about, converted)]]
  })
  const answers = [...(row.answers ?? [])]
  const result = await runExtension({ code, definition, entry }, Object.fromEntries(inputs), {
    ...{ settings: read.values, signal, log: () => undefined },
    async answer(request) {
      const next = answers.shift()
      if (!next || !sameJson(JSON.parse(request), next.ask))
        throw new Error(
          `the block asks for ${request.slice(0, 500)}, and the row answers ${JSON.stringify(next?.ask ?? null)}`,
        )
      const { value, problem: refused } = next
      return {
        request,
        ...(value !== undefined && { value: JSON.stringify(value) }),
        ...(refused !== undefined && { problem: refused }),
      }
    },
  })
  if (answers.length > 0) throw new Error(`the block did not ask for ${JSON.stringify(answers[0]?.ask)}`)
  return JSON.parse(JSON.stringify(result ?? {}))
}

/** For the log: a client is told of an internal error. */
function failed({ name, version }: ExtensionCode, what: string): Error {
  return new Error(`the extension ${name} ${version}: ${what}`)
}
