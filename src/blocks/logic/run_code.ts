import { parse } from 'acorn'
import { isJsonObject, isLargerThan, type JsonValue } from '../../shared/json.ts'
import { readJson } from '../../shared/numbers/exact-json.ts'
import type { PinType } from '../../shared/pin-type.ts'
import { defineFlow, PinError } from '../block.ts'
import type { FlowContext } from '../context.ts'
import type { InPin, InPins } from '../pin.ts'
import type { CodeCall } from './code-threads.ts'

const LONGEST_CODE = 64 * 1024
const PARAMETER = /^[a-zA-Z_]\w{0,59}$/
const ANNOTATION = /^@(param|returns?) {([^{}]+)}(.*)$/

/** What code of blocks has of the clock and of chance. */
export const clockPins = {
  now: {
    type: 'date',
    help: 'What Date.now() and new Date() give, such as =now(). Empty: the code has no clock.',
  },
  seed: {
    type: 'value',
    help: 'What the numbers of Math.random() follow from, such as =uuid(). Empty: the code has no randomness.',
  },
} as const satisfies InPins

export default defineFlow({
  identifier: 'run_code',
  title: 'Run code',
  words: 'Run code',
  summary:
    'Runs JavaScript in a sandbox: it gets the values of pins and returns one as JSON. It reaches no network, storage or file, and gives the same for the same inputs. For one line an expression is faster.',
  effects: { cacheable: true },
  in: clockPins,
  out: { result: { type: 'any', help: 'What the code returned, as JSON. Empty if it returned nothing.' } },
  settings: {
    code: {
      kind: 'text',
      required: true,
      lines: true,
      help: 'Body of a function in JavaScript (ES2023), such as return price * 1.19. A JSDoc comment at its start gives types: @param {number} price, @param {string} [note] where it may be empty, @returns {number}. Types: string, number, boolean, object, array, Date, any.',
    },
    parameters: { kind: 'names', help: 'Parameters of the function: each becomes a pin.' },
    timeout: {
      kind: 'number',
      default: 200,
      min: 1,
      max: 2000,
      help: 'Milliseconds of processor time that the code may take.',
    },
  },
  moreIn: ({ code, parameters }) => pinsOf(code, parameters, typeNames),
  check: (_inputs, settings) => void checkedCode(settings),
  async run({ now, seed }, context) {
    const { code, parameters, timeout } = context.settings
    const { returns } = checkedCode(context.settings)
    const { MOST_TEXT, runCode } = await import('./code-threads.ts')
    const tooLong = () =>
      new PinError('parameters', `must be at most ${MOST_TEXT} characters of JSON together`)
    // Each value takes two characters. A flow may hold a million, which take 0.1 s to be written.
    const values = parameters.map((name) =>
      Object.hasOwn(context.more, name) ? context.more[name] : undefined,
    )
    if (isLargerThan(values, MOST_TEXT / 2, MOST_TEXT)) throw tooLong()
    const call = { ...argumentsOf(parameters, context.more), code, timeout, now: now?.getTime(), seed }
    if (call.input.length > MOST_TEXT) throw tooLong()
    const { kind, text } = await runCode(call, context.signal)
    if (kind === 'late') throw new PinError('code', `did not end within ${timeout} ms of processor time`)
    if (kind === 'ended') throw new PinError('code', `was ended: ${text ?? 'failed'}`)
    if (kind === 'threw') throw new PinError('code', `threw ${text ?? 'an error'}`)
    return { result: checkedResult(readResult(text), returns) }
  },
})

function argumentsOf(
  parameters: readonly string[],
  more: FlowContext['more'],
): Pick<CodeCall, 'parameters' | 'input' | 'dates' | 'empty'> {
  const values = parameters.map((name) => (Object.hasOwn(more, name) ? more[name] : undefined))
  const placesOf = (is: (value: unknown) => boolean) =>
    values.flatMap((value, place) => (is(value) ? [place] : []))
  return {
    parameters,
    input: JSON.stringify(values),
    dates: placesOf((value) => value instanceof Date),
    empty: placesOf((value) => value === undefined),
  }
}

export function readResult(text: string | undefined): JsonValue | undefined {
  if (text === undefined) return undefined
  const read = readJson(text)
  if ('value' in read) return read.value
  throw new PinError('code', `returned what cannot be used: its JSON ${read.problem}`)
}

/** Throws PinError for a result that is not what the code says of it. */
export function checkedResult(
  result: JsonValue | undefined,
  returns: TypeName | undefined,
): JsonValue | undefined {
  if (returns && !isOf(returns, result))
    throw new PinError('code', `must return ${articled(returns)}, as its @returns says`)
  return result
}

const typeNames = ['string', 'number', 'boolean', 'object', 'array', 'Date', 'any'] as const
/** `Connection`: of parameters of code that may call servers. */
export const callingTypes = [...typeNames, 'Connection'] as const
type TypeName = (typeof callingTypes)[number]

const pinTypeOf: Readonly<Record<TypeName, PinType>> = {
  ...{ string: 'value', number: 'number', boolean: 'condition', object: 'object' },
  ...{ array: 'array', Date: 'date', any: 'any', Connection: 'http_connection' },
}

interface Annotations {
  readonly types: ReadonlyMap<string, { readonly pin: InPin }>
  readonly returns: TypeName | undefined
  readonly problem: string | undefined
}

/** In-pins of the parameters, by the JSDoc of the code. */
export function pinsOf(
  code: string | undefined,
  parameters: readonly string[],
  allowed: readonly TypeName[],
): InPins {
  const { types } = annotationsIn(code, allowed)
  return Object.fromEntries(parameters.map((name) => [name, types.get(name)?.pin ?? anyPin(name)]))
}

/** The JSDoc with which the code begins. Never throws: what is wrong is for {@link checkedCode}. */
function annotationsIn(code: string | undefined, allowed: readonly TypeName[]): Annotations {
  const types = new Map<string, { readonly pin: InPin }>()
  let returns: TypeName | undefined
  let problem: string | undefined
  for (const line of commentOf(code ?? '')) {
    const [, tag, written = '', rest = ''] = ANNOTATION.exec(line) ?? []
    if (tag === undefined) continue
    const type = typeNamed(written.trim(), allowed)
    if (type === undefined || (type === 'Connection' && tag !== 'param'))
      problem ??= `has the type ${written.slice(0, 60)} in its JSDoc; use one of ${allowed.join(', ')}`
    else if (tag === 'param') {
      const [word = '', ...words] = rest.trim().split(' ')
      const isOptional = word.startsWith('[') && word.endsWith(']')
      const name = isOptional ? word.slice(1, -1) : word
      const help = words.join(' ').replace(/^- /, '').trim() || `The parameter ${name}.`
      types.set(name, {
        pin: { type: pinTypeOf[type], help, ...(!isOptional && type !== 'any' && { required: true }) },
      })
    } else returns = type
  }
  return { types, returns, problem }
}

function commentOf(code: string): readonly string[] {
  const text = code.trimStart()
  const end = text.indexOf('*/')
  if (!text.startsWith('/**') || end < 0) return []
  return text
    .slice(3, end)
    .split('\n')
    .map((line) => line.trim().replace(/^\* ?/, ''))
}

function typeNamed(written: string, allowed: readonly TypeName[]): TypeName | undefined {
  if (written === '*') return 'any'
  if (written.endsWith('[]') || written === 'Array') return 'array'
  const name = written === 'Object' ? 'object' : written
  return allowed.find((one) => one === name)
}

function isOf(type: TypeName, value: JsonValue | undefined): boolean {
  switch (type) {
    case 'any':
      return true
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isJsonObject(value)
    case 'Date':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
    default:
      return typeof value === type
  }
}

function articled(type: TypeName): string {
  return `${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`
}

function anyPin(name: string): InPin {
  return { type: 'any', help: `The parameter ${name}.` }
}

interface Code {
  readonly code: string
  readonly parameters: readonly string[]
}

/** By the settings of a block, which are the same object in each run: checking takes longer than running. */
const checked = new WeakMap<Code, Annotations>()

/** Throws PinError for what no run could use. `calls`: it may wait for servers. */
export function checkedCode(settings: Code, calls = false): Annotations {
  const before = checked.get(settings)
  if (before) return before
  const { code, parameters } = settings
  const wrong = parameters.find((name) => !PARAMETER.test(name))
  if (wrong !== undefined)
    throw new PinError(
      'parameters',
      `must be names of JavaScript, of letters, digits and _; ${wrong} is none`,
    )
  if (code.length > LONGEST_CODE) throw new PinError('code', `must have at most ${LONGEST_CODE} characters`)
  const annotations = annotationsIn(code, calls ? callingTypes : typeNames)
  const problem = syntaxProblem(code, parameters, calls) ?? annotations.problem
  if (problem !== undefined) throw new PinError('code', problem)
  checked.set(settings, annotations)
  return annotations
}

/** The text is a whole body: a brace too many would end the function that is made of it. */
function syntaxProblem(code: string, parameters: readonly string[], calls: boolean): string | undefined {
  const options = {
    ecmaVersion: 2023,
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: calls,
  } as const
  try {
    parse(`"use strict"; ${code}`, options)
    const [kind, names] = calls ? ['async function', ['call', ...parameters]] : ['function', parameters]
    parse(`(${kind} (${names.join(', ')}) { "use strict"; ${code}\n})`, options)
    return undefined
  } catch (error) {
    return `is not JavaScript: ${error instanceof Error ? error.message : 'it cannot be read'}`
  }
}
