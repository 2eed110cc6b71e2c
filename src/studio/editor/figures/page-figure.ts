/**
 * A chart or card of a page as it is asked for by lists: storage, group and figure. From that follow the block that aggregates the
 * documents, its place in the flow of the page, and the columns that the chart shows.
 */
import type { BlockContent } from '../../../shared/blueprint.ts'
import { isJsonObject, type JsonValue } from '../../../shared/json.ts'
import { namesInFlow } from '../expressions/block-refs.ts'
import { insertOnWire, withRoomOnWire } from '../gestures/insert-on-wire.ts'
import type { Catalogue } from '../model/block-description.ts'
import { connect, newContent, setExpression, setLiteral } from '../model/changes/flow-changes.ts'
import { type Flow, inPinOf, wiresInto, wiresOf, withBlock } from '../model/flow.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { freePlace, onGrid } from '../model/places/node-geometry.ts'

export const figureTypes: ReadonlySet<string> = new Set(['state_chart', 'state_card'])
const AGGREGATE = 'function_aggregate'

export const figures = ['count', 'sum', 'average', 'min', 'max', 'count_distinct'] as const
export type Figure = (typeof figures)[number]
export const parts = ['', 'year', 'quarter', 'month', 'week', 'day', 'hour'] as const
export type Part = (typeof parts)[number]
export const chartTypes = ['bar', 'line', 'pie'] as const

export interface FigureDraft {
  /** Empty: made from the rest. */
  readonly title: string
  readonly storage: string
  /** Field that groups; empty for a card, which has one figure for all documents. */
  readonly group: string
  readonly part: Part
  readonly figure: Figure
  /** Field of the figure; not of a count. */
  readonly field: string
  readonly type: (typeof chartTypes)[number]
}

/** The columns of the rows that result, as the block that aggregates names them. */
export function columnsOf({ group, part, figure, field }: FigureDraft): {
  readonly label: string
  readonly value: string
} {
  const name = (text: string) => text.replaceAll('.', '_')
  const label = part === '' ? name(group) : part
  return { label, value: figure === 'count' ? 'count' : name(`${figure}_${field}`) }
}

/** What is missing, by the names of the draft. */
export function missingOf(draft: FigureDraft, isChart: boolean): readonly ('storage' | 'group' | 'field')[] {
  const needed = [
    draft.storage === '' && 'storage',
    isChart && draft.group === '' && 'group',
    draft.figure !== 'count' && draft.field === '' && 'field',
  ] as const
  return needed.filter((one) => one !== false)
}

/** The page part with what the draft says: undefined where its content leads to no block that shows the page. */
export function withFigure(
  flow: Flow,
  catalogue: Catalogue,
  guid: string,
  draft: FigureDraft & { readonly isMoney: boolean },
  newGuid: () => string,
): Flow | undefined {
  const content = flow.get(guid)
  if (!content) return undefined
  const isChart = content.type === 'state_chart'
  // With its pins set a part is as large as it stays: only then a new block finds a place beside it.
  const placed = (drawn: Flow) => (flow.has(aggregate) ? drawn : atFreePlace(drawn, catalogue, aggregate))
  const own = aggregateOf(flow, guid)
  const shared = own !== undefined && usersOf(flow, own).size > 1
  const aggregate = own === undefined || shared ? newGuid() : own
  const begun = flow.has(aggregate) ? flow : withAggregate(flow, catalogue, guid, aggregate)
  if (!begun) return undefined
  const rest = restOf(flow, own, draft)
  const aggregated = withPins(begun, aggregate, {
    storage: draft.storage,
    group: isChart ? [groupOf(draft), ...rest.groups] : undefined,
    values: [rest.first, ...rest.values],
  })
  const { label } = columnsOf(draft)
  const { value } = rest
  const money = draft.isMoney ? { kind: 'currency', currency: `${draft.storage}.${draft.field}` } : {}
  // A card shows a figure without a kind as it is written: 10692.
  const kind = isChart ? undefined : 'number'
  const pins = { title: draft.title, kind, currency: undefined, ...money }
  if (!isChart) {
    const name = namesInFlow(aggregated).get(aggregate) ?? ''
    const card = withPins(aggregated, guid, pins)
    return placed(setExpression(card, guid, 'figure', `${name}.rows[0].${value} ?? 0`))
  }
  const drawn = withPins(aggregated, guid, {
    ...pins,
    ...{ type: draft.type, label, values: valuesOf(content, rest), ...ownId(flow, guid, value) },
  })
  const items = { from: { block: aggregate, pin: 'rows' }, to: { block: guid, pin: 'items' } }
  return placed(connect(drawn, catalogue, items))
}

interface Rest {
  /** Further groups and values, which lists cannot say. */
  readonly groups: readonly JsonValue[]
  readonly values: readonly JsonValue[]
  /** The value of the dialog, under its own name where it has one. */
  readonly first: JsonValue
  /** Its column, and the one that it had. */
  readonly value: string
  readonly before: string
}

/** Of the block that aggregates. Those of another storage have other fields. */
function restOf(flow: Flow, own: string | undefined, draft: FigureDraft): Rest {
  const aggregate = flow.get(own ?? '')
  const isSame = literalOf(aggregate, 'storage') === draft.storage
  const [, ...groups] = listIn(aggregate, 'group')
  const [first, ...values] = listIn(aggregate, 'values')
  const read = readValue(literalOf(aggregate, 'values'))
  const column = columnsOf(draft).value
  const old = isJsonObject(first) && typeof first.as === 'string' ? first.as : undefined
  const before = old ?? (read.figure ? columnsOf({ ...draft, field: '', ...read }).value : '')
  const isUnchanged =
    isSame && read.figure === draft.figure && (read.field === draft.field || draft.figure === 'count')
  return {
    groups: isSame ? groups : [],
    values: isSame ? values : [],
    first:
      isUnchanged && first !== undefined
        ? first
        : { [draft.figure]: draft.figure === 'count' ? '*' : draft.field },
    value: isUnchanged && old !== undefined ? old : column,
    before,
  }
}

/** The columns that a chart shows, with the one of the dialog in its place. */
function valuesOf(chart: BlockContent, { value, values, before }: Rest): readonly JsonValue[] {
  const shown = listIn(chart, 'values')
  return values.length === 0 || !shown.includes(before)
    ? [value]
    : shown.map((one) => (one === before ? value : one))
}

function listIn(content: BlockContent | undefined, pin: string): readonly JsonValue[] {
  const value = literalOf(content, pin)
  return Array.isArray(value) ? value : []
}

function groupOf({ group, part }: FigureDraft): JsonValue {
  return part === '' ? group : { field: group, part }
}

/** Two charts of a page have two names. */
function ownId(flow: Flow, guid: string, value: string): { readonly chart_id?: string } {
  const ids = [...flow].flatMap(([other, content]) =>
    other !== guid && content.type === 'state_chart'
      ? [String(literalOf(content, 'chart_id') ?? 'chart')]
      : [],
  )
  const own = literalOf(flow.get(guid), 'chart_id')
  if (own !== undefined ? !ids.includes(String(own)) : !ids.includes('chart')) return {}
  const free = [value, ...ids.map((_, at) => `${value}_${at + 2}`)].find((id) => !ids.includes(id))
  return free === undefined ? {} : { chart_id: free.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 60) }
}

function withPins(flow: Flow, guid: string, values: Readonly<Record<string, JsonValue | undefined>>): Flow {
  return Object.entries(values).reduce((now, [pin, value]) => setLiteral(now, guid, pin, value), flow)
}

function literalOf(content: BlockContent | undefined, pin: string): JsonValue | undefined {
  return inPinOf(content, pin)?.value
}

/** With a new block that aggregates, right before the block that shows the page: all ways to it lead through the new one. */
function withAggregate(flow: Flow, catalogue: Catalogue, guid: string, aggregate: string): Flow | undefined {
  const shown = shownBy(flow, catalogue, guid)
  const [wire, ...others] = shown === undefined ? [] : wiresTo(flow, shown)
  if (!wire) return undefined
  const content = { ...newContent(AGGREGATE, catalogue, { x: 0, y: 0 }), fields: { as: 'user' } }
  const inserted = insertOnWire(withBlock(flow, aggregate, content), catalogue, wire, aggregate)
  if (!inserted) return undefined
  const joined = others.reduce((now, other) => {
    const into = { from: other.from, to: { block: aggregate, pin: 'flow' } }
    return connect(withoutWire(now, other), catalogue, into)
  }, inserted)
  return withRoomOnWire(joined, catalogue, wire, aggregate)
}

function atFreePlace(flow: Flow, catalogue: Catalogue, guid: string): Flow {
  const content = flow.get(guid)
  if (!content) return flow
  const others = new Map(flow)
  others.delete(guid)
  const position = onGrid(freePlace(others, catalogue, content.type, content.position))
  return withBlock(flow, guid, { ...content, position })
}

function withoutWire(flow: Flow, { from, to }: ReturnType<typeof wiresTo>[number]): Flow {
  const content = flow.get(to.block)
  if (!content) return flow
  const in_pins = content.in_pins.map((pin) =>
    pin.id === to.pin && pin.from
      ? { ...pin, from: pin.from.filter((end) => end.block !== from.block || end.pin !== from.pin) }
      : pin,
  )
  return withBlock(flow, to.block, { ...content, in_pins })
}

function wiresTo(flow: Flow, guid: string) {
  const content = flow.get(guid)
  return content ? wiresInto(guid, content).filter(({ to }) => to.pin === 'flow') : []
}

/** The block of the flow that the content ends in. */
function shownBy(flow: Flow, catalogue: Catalogue, guid: string): string | undefined {
  const next = Map.groupBy(wiresOf(flow), ({ from }) => from.block)
  const seen = new Set<string>()
  const open = [guid]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (seen.has(one)) continue
    seen.add(one)
    const content = flow.get(one)
    if (one !== guid && content && pinsOf(content, catalogue).in.has('flow')) return one
    for (const { from, to } of next.get(one) ?? []) if (from.pin === 'state') open.push(to.block)
  }
  return undefined
}

/** The block whose rows the part shows. */
function aggregateOf(flow: Flow, guid: string): string | undefined {
  const content = flow.get(guid)
  const ends = [
    ...(inPinOf(content, 'items')?.from ?? []).map(({ block }) => block),
    ...Object.values(inPinOf(content, 'figure')?.refs ?? {}),
  ]
  return ends.find((block) => flow.get(block)?.type === AGGREGATE)
}

function usersOf(flow: Flow, aggregate: string): ReadonlySet<string> {
  const users = [...flow].filter(([, { in_pins }]) =>
    in_pins.some(
      ({ id, from = [], refs = {} }) =>
        id !== 'flow' &&
        (from.some(({ block }) => block === aggregate) || Object.values(refs).includes(aggregate)),
    ),
  )
  return new Set(users.map(([guid]) => guid))
}

/** What the dialog begins with: what the part shows already, as far as lists can say it. */
export function readFigure(flow: Flow, guid: string): Partial<FigureDraft> {
  const content = flow.get(guid)
  const title = literalOf(content, 'title')
  const type = chartTypes.find((one) => one === literalOf(content, 'type'))
  const aggregate = flow.get(aggregateOf(flow, guid) ?? '')
  const storage = literalOf(aggregate, 'storage')
  return {
    ...(typeof title === 'string' && { title }),
    ...(type && { type }),
    ...(typeof storage === 'string' && { storage }),
    ...readGroup(literalOf(aggregate, 'group')),
    ...readValue(literalOf(aggregate, 'values')),
  }
}

function readGroup(group: JsonValue | undefined): Partial<FigureDraft> {
  const [first] = Array.isArray(group) ? group : []
  if (typeof first === 'string') return { group: first, part: '' }
  if (!isJsonObject(first) || typeof first.field !== 'string') return {}
  return { group: first.field, part: parts.find((one) => one === first.part) ?? '' }
}

function readValue(values: JsonValue | undefined): Partial<FigureDraft> {
  const [first] = Array.isArray(values) ? values : []
  const figure = isJsonObject(first) ? figures.find((one) => one in first) : undefined
  if (!isJsonObject(first) || figure === undefined) return {}
  const field = first[figure]
  return { figure, field: typeof field === 'string' && field !== '*' ? field : '' }
}

/** The storage that the page is about: of the nearest table or other part in the same blueprint. */
export function storageNear(flow: Flow, guid: string): string {
  const here = flow.get(guid)?.position ?? { x: 0, y: 0 }
  const named = [...flow.values()].flatMap((content) => {
    const storage = literalOf(content, 'storage')
    const { x, y } = content.position
    return typeof storage === 'string' && storage !== ''
      ? [{ storage, distance: Math.abs(y - here.y) * 4 + Math.abs(x - here.x) }]
      : []
  })
  return named.toSorted((a, b) => a.distance - b.distance)[0]?.storage ?? ''
}
