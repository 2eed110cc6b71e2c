/**
 * A resource block as the flows that it stands for. The server compiles these in its place, and "As blocks" of the studio
 * saves them: one function, so that both are the same.
 */
import type { Block, SavedInPin } from '../blueprint.ts'
import type { JsonValue } from '../json.ts'
import {
  literalOf,
  RESOURCE_TYPE,
  type ResourceHook,
  type ResourceSettings,
  resourceHooks,
  servedOperations,
} from './resource.ts'
import { hookSwitch } from './resource-endpoints.ts'
import { resourceParts } from './resource-parts.ts'
import type { ResourcePart, ResourcePlan } from './resource-plan.ts'

/** The part that gives document, previous and user to the hooks. It has the guid of the resource, so that wires from it stay. */
const HUB = 'hooks'
const SWITCH = 'hook'
const COLUMN = 320
const ROW = 190

export interface ExpandOptions {
  /** Gives the guid of a part. */
  readonly guidOf: (part: string) => string
  /** Gives the name of a part. */
  readonly nameOf: (part: string) => string
}

/** The blocks in place of `resource`, with the wires of the others that came from its hooks. */
export function expandResource(
  resource: Block,
  settings: ResourceSettings,
  blocks: readonly Block[],
  { guidOf, nameOf }: ExpandOptions,
): readonly Block[] {
  const others = blocks.filter(({ guid }) => guid !== resource.guid)
  const used = usedPins(resource, others)
  const hooks = new Set(resourceHooks.filter((hook) => used.has(hook)))
  const plan: ResourcePlan = {
    uri: literalOf(resource, 'uri') ?? '',
    storage: literalOf(resource, 'storage') ?? '',
    operations: servedOperations(settings.operations),
    filters: settings.filters,
    orders: settings.orders,
    expand: settings.expand,
    pageSize: settings.page_size,
    maxPageSize: settings.max_page_size,
    permanent: settings.removal === 'permanent',
    readScopes: resource.scopes,
    writeScopes: settings.write_scopes.length > 0 ? settings.write_scopes : resource.scopes,
    hooks,
    hookFunction: `${nameOf(HUB)} of ${literalOf(resource, 'uri') ?? ''}`.replace(
      /[^\p{L}\p{N} _.:-]/gu,
      ' ',
    ),
    nameOf,
  }
  const guids = (part: string) => (part === HUB ? resource.guid : guidOf(part))
  const parts = {
    ...resourceParts(plan),
    ...(used.size > 0 && { [HUB]: hubPart(plan), [SWITCH]: hookSwitch(HUB) }),
  }
  const made = Object.entries(parts).map(([part, one]) =>
    blockOf(resource, part, one, { guidOf: guids, nameOf }),
  )
  const rewired = others.map((block) => withHooks(block, resource.guid, guidOf(SWITCH)))
  return [...rewired, ...withRefs(made, nameOf, guids, Object.keys(parts))]
}

export function isResource({ type }: Block): boolean {
  return type === RESOURCE_TYPE
}

/** Out-pins of the resource that others read. An expression may name it without saying its guid. */
function usedPins({ guid, name }: Block, others: readonly Block[]): ReadonlySet<string> {
  const used = new Set<string>()
  for (const { in_pins: pins } of others)
    for (const { from = [], expression, refs = {} } of pins) {
      for (const end of from) if (end.block === guid) used.add(end.pin)
      const named =
        Object.values(refs).includes(guid) || (name !== undefined && expression?.includes(`${name}.`))
      if (expression !== undefined && named) used.add('document')
    }
  return used
}

function hubPart({ hookFunction }: ResourcePlan): ResourcePart {
  return { type: 'trigger_custom_function', in: {}, fields: { name: hookFunction }, at: [0, 14] }
}

function blockOf(resource: Block, part: string, one: ResourcePart, { guidOf, nameOf }: ExpandOptions): Block {
  const [column, row] = one.at
  const { x, y } = resource.position
  return {
    guid: guidOf(part),
    name: part === HUB && resource.name ? resource.name : nameOf(part),
    type: one.type,
    title: '',
    description: '',
    position: { x: x + column * COLUMN, y: y + row * ROW },
    in_pins: Object.entries(one.in).map(([id, value]) => pinOf(id, value, guidOf)),
    custom_out_pins:
      part === HUB
        ? ['hook', 'document', 'previous', 'user'].map((id) => ({
            id,
            type: id === 'hook' ? 'value' : 'any',
          }))
        : [],
    fields: one.fields ?? {},
    scopes: [...(one.scopes ?? [])],
  }
}

function pinOf(id: string, value: JsonValue, guidOf: (part: string) => string): SavedInPin {
  if (typeof value === 'string' && value.startsWith('=')) return { id, expression: value.slice(1) }
  const wires = (Array.isArray(value) ? value : [value]).filter(
    (one): one is string => typeof one === 'string' && one.startsWith('@'),
  )
  if (wires.length === 0) return { id, value }
  const from = wires.map((wire) => {
    const [part = '', ...pin] = wire.slice(1).split('.')
    return { block: guidOf(part), pin: pin.join('.') }
  })
  return { id, from }
}

/** Says of which part each name in an expression is: another block of the blueprint may have the same name. */
function withRefs(
  made: readonly Block[],
  nameOf: (part: string) => string,
  guidOf: (part: string) => string,
  parts: readonly string[],
): readonly Block[] {
  return made.map((block) => ({
    ...block,
    in_pins: block.in_pins.map((pin) => {
      const { expression } = pin
      if (expression === undefined) return pin
      const named = parts.filter((part) => expression.includes(`${nameOf(part)}.`))
      if (named.length === 0) return pin
      return { ...pin, refs: Object.fromEntries(named.map((part) => [nameOf(part), guidOf(part)])) }
    }),
  }))
}

function withHooks(block: Block, resource: string, hookWays: string): Block {
  const isHook = (end: { readonly block: string; readonly pin: string }) =>
    end.block === resource && resourceHooks.some((hook: ResourceHook) => hook === end.pin)
  if (!block.in_pins.some(({ from = [] }) => from.some(isHook))) return block
  return {
    ...block,
    in_pins: block.in_pins.map((pin) =>
      pin.from
        ? { ...pin, from: pin.from.map((end) => (isHook(end) ? { ...end, block: hookWays } : end)) }
        : pin,
    ),
  }
}
