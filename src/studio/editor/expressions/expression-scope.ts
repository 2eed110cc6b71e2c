/** What an expression on a pin can name, with the values that a run had there. */
import type { InPin } from '../../../shared/api/blocks/blocks.ts'
import type { Run } from '../../../shared/api/blueprints/runs.ts'
import { canConvert, type PinType } from '../../../shared/pin-type.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow, PinPlace } from '../model/flow.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { nameOf } from '../model/words/block-names.ts'
import { namesInFlow } from './block-refs.ts'
import type { ScopeName } from './parsed-pin.ts'

interface ScopePin {
  readonly id: string
  readonly type: PinType
  readonly help: string
}

export interface ScopeBlock {
  readonly name: string
  /** What a person calls it. */
  readonly title: string
  readonly pins: readonly ScopePin[]
  /** What its out-pins gave the last time. */
  readonly gave: Readonly<Record<string, unknown>> | undefined
}

export interface ExpressionScope {
  readonly blocks: readonly ScopeBlock[]
  /** Names of the run, as far as their values are known. */
  readonly values: Readonly<Record<string, unknown>>
  /** Functions of its own that the pin has. */
  readonly language?: InPin['language'] | undefined
  /** Whether there is a document to speak of: `doc`. */
  readonly hasDoc?: boolean
  /** The only names that there are: of an expression that is evaluated outside of runs. */
  readonly only?: readonly ScopeName[]
}

/** What values are known of. */
interface Known {
  /** The one whose values are shown. */
  readonly run?: Pick<Run, 'steps' | 'request' | 'user'> | undefined
  /** Values of the environment by name. */
  readonly env?: Readonly<Record<string, unknown>> | undefined
}

/** Blocks without values are left out, and the block itself. */
export function expressionScope(
  flow: Flow,
  catalogue: Catalogue,
  { block: guid, pin }: PinPlace,
  { run, env }: Known = {},
): ExpressionScope {
  const names = namesInFlow(flow)
  const lastStep = new Map(run?.steps.map((step) => [step.block, step]))
  const blocks = [...flow].flatMap(([block, content]): ScopeBlock[] => {
    const pins = [...pinsOf(content, catalogue).out].flatMap(([id, { type, carries, help }]): ScopePin[] => {
      const gives = type === 'flow' ? carries : type
      return gives && canConvert(gives, 'any') ? [{ id, type: gives, help }] : []
    })
    const name = names.get(block)
    if (pins.length === 0 || name === undefined || block === guid) return []
    return [{ name, title: nameOf(content, catalogue), pins, gave: lastStep.get(block)?.out }]
  })
  const owner = flow.get(guid)
  const pins = owner && pinsOf(owner, catalogue)
  const into = pins?.in.get(pin)
  return {
    blocks,
    values: { ...(run?.request && suppliedBy(run.request, run.user)), ...(env && { env }) },
    language: into?.language,
    hasDoc: into?.language === 'where' || (into?.perFrame === true && pins?.out.has('doc') === true),
  }
}

function suppliedBy(request: NonNullable<Run['request']>, user: string | null): Record<string, unknown> {
  const { method, path, query, params, headers, body } = request
  return {
    params: { ...fieldsIn(query), ...fieldsIn(params) },
    query,
    headers,
    body,
    request: { method, path },
    user: user === null ? null : { username: user },
  }
}

/** The value at a path such as `goods.document.price`, as far as it is known. */
export function knownValue({ blocks, values: input }: ExpressionScope, path: readonly string[]): unknown {
  const [first = '', ...rest] = path
  const isBlock = first === 'blocks' || !Object.hasOwn(input, first)
  const [name, keys] = first === 'blocks' ? [rest[0], rest.slice(1)] : [first, rest]
  let value: unknown = isBlock ? blocks.find((block) => block.name === name)?.gave : input[first]
  for (const key of keys) value = fieldsIn(value)[key]
  return value
}

/** Its fields; none for anything but an object. */
export function fieldsIn(value: unknown): Readonly<Record<string, unknown>> {
  return isFields(value) ? value : {}
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
