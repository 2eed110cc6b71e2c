/** What has to change to make one state of an application another one. Pure. */

import {
  isJsonObject,
  isLargerThan,
  type JsonObject,
  type JsonValue,
  memberOf,
  namedObject,
  sameJson,
} from '../json.ts'
import { isSecretName } from '../names/secret-names.ts'
import { SECRET_NAME, SECRET_PIN } from '../names/stored-names.ts'
import {
  exactText,
  type ShownText,
  shownAlone,
  shownDifference,
  valueLines,
  valueText,
} from '../value-differences.ts'
import type { Application } from './application.ts'
import { testAndCases } from './application-files.ts'
import { isOneFileMap } from './cluster-objects.ts'

/** What lives in a cluster. Seeds go into empty storages, and tests stay with their release. */
export const pushedMaps = [
  ...(['groups', 'connections', 'storages', 'views', 'templates', 'texts', 'blueprints'] as const),
  ...(['alerts', 'queues'] as const),
] as const
export type PushedMap = (typeof pushedMaps)[number]

export interface ObjectChange {
  readonly map: PushedMap
  /** By which its file is called. */
  readonly object: string
  readonly change: 'created' | 'changed' | 'removed'
  /** Of what is changed. */
  readonly parts: readonly PartChange[]
}

export interface PartChange {
  readonly kind: 'block' | 'field' | 'setting' | 'text'
  readonly name: string
  /** moved: a block stands elsewhere on the canvas. */
  readonly change: 'created' | 'changed' | 'removed' | 'renamed' | 'moved'
  /** Of what is renamed. */
  readonly was?: string
}

/** In the order in which a push makes them: by kind, and by name. */
export function applicationChanges(before: Application, after: Application): readonly ObjectChange[] {
  return pushedMaps.flatMap((map) => {
    const names = new Set([...Object.keys(before[map]), ...Object.keys(after[map])])
    return [...names].sort().flatMap((object): ObjectChange[] => {
      const [was, is] = [memberOf(before[map], object), memberOf(after[map], object)]
      if (was === undefined) return [{ map, object, change: 'created', parts: [] }]
      if (is === undefined) return [{ map, object, change: 'removed', parts: [] }]
      const parts = partChanges(map, was, is)
      return parts.length === 0 ? [] : [{ map, object, change: 'changed', parts }]
    })
  })
}

function partChanges(map: PushedMap, before: JsonObject, after: JsonObject): readonly PartChange[] {
  if (map === 'storages') {
    const { fields: _before, ...was } = before
    const { fields: _after, ...is } = after
    return [...settings(was, is), ...fieldChanges(before, after)]
  }
  if (map === 'texts') return parts('text', before, after)
  if (map !== 'blueprints') return settings(before, after)
  const { blocks: wasBlocks, layout: wasLayout, ...was } = before
  const { blocks: isBlocks, layout: isLayout, ...is } = after
  const [old, now] = [objectOrEmpty(wasBlocks), objectOrEmpty(isBlocks)]
  return [
    ...settings(was, is),
    ...withRenamed(old, now, parts('block', old, now)),
    ...movedBlocks([old, now], objectOrEmpty(wasLayout), objectOrEmpty(isLayout)),
  ]
}

/** A file need not say where its blocks stand: those that it leaves out stay where they are. */
function movedBlocks(blocks: readonly JsonObject[], before: JsonObject, after: JsonObject): PartChange[] {
  return Object.keys(after)
    .sort()
    .filter((name) => blocks.every((all) => Object.hasOwn(all, name)))
    .filter((name) => !sameJson(memberOf(before, name), memberOf(after, name)))
    .map((name) => ({ kind: 'block', name, change: 'moved' }))
}

/** One that is gone and one that is new, which are the same but for their names and for the blocks they are wired to. */
function withRenamed(before: JsonObject, after: JsonObject, changes: readonly PartChange[]): PartChange[] {
  const [gone, added] = (['removed', 'created'] as const).map((change) =>
    Map.groupBy(
      changes.filter((one) => one.change === change),
      ({ name }) => unwiredText(memberOf(change === 'removed' ? before : after, name)),
    ),
  )
  const under = new Map<string, string>()
  for (const [text, [one, another]] of added ?? []) {
    const [was, other] = gone?.get(text) ?? []
    if (one && was && !another && !other) under.set(one.name, was.name)
  }
  const former = new Set(under.values())
  return changes
    .filter(({ name, change }) => change !== 'removed' || !former.has(name))
    .map((one) => {
      const was = one.change === 'created' ? under.get(one.name) : undefined
      return was === undefined ? one : { ...one, change: 'renamed', was }
    })
}

function unwiredText(block: JsonValue | undefined): string {
  return JSON.stringify(block, (_, value: unknown) =>
    typeof value === 'string' && isWire(value) ? value.slice(value.indexOf('.')) : value,
  )
}

function isWire(text: string): boolean {
  return text.startsWith('@') && text.includes('.')
}

function settings(before: JsonObject, after: JsonObject): PartChange[] {
  return parts('setting', before, after)
}

function objectOrEmpty(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function parts(
  kind: PartChange['kind'],
  input: JsonValue | undefined,
  requested: JsonValue | undefined,
): PartChange[] {
  const [before, after] = [objectOrEmpty(input), objectOrEmpty(requested)]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].sort().flatMap((name): PartChange[] => {
    const [was, is] = [memberOf(before, name), memberOf(after, name)]
    if (was === undefined) return [{ kind, name, change: 'created' }]
    if (is === undefined) return [{ kind, name, change: 'removed' }]
    return sameJson(was, is) ? [] : [{ kind, name, change: 'changed' }]
  })
}

function fieldChanges(before: JsonObject, after: JsonObject): PartChange[] {
  const was = isJsonObject(before.fields) ? before.fields : {}
  const is = isJsonObject(after.fields) ? after.fields : {}
  const renamed = Object.keys(is).flatMap((name): PartChange[] => {
    const former = formerName(was, is, name)
    return former === undefined ? [] : [{ kind: 'field', name, change: 'renamed', was: former }]
  })
  const under = new Map(renamed.map(({ was: former = '', name }) => [former, name]))
  const moved = Object.fromEntries(Object.entries(was).map(([name, one]) => [under.get(name) ?? name, one]))
  const plain = Object.fromEntries(Object.entries(is).map(([name, one]) => [name, withoutConversion(one)]))
  return [...renamed, ...parts('field', moved, plain)]
}

/** The field that has the former name, where none has the new one: later the word says nothing. */
function formerName(was: JsonObject, is: JsonObject, name: string): string | undefined {
  const field = memberOf(is, name)
  const former = isJsonObject(field) ? field.was : undefined
  if (typeof former !== 'string' || Object.hasOwn(was, name)) return undefined
  return Object.hasOwn(was, former) && !Object.hasOwn(is, former) ? former : undefined
}

/** Without what only says how stored values become those of the field. */
export function withoutConversion(field: JsonValue): JsonValue {
  if (!isJsonObject(field)) return field
  const { was: _was, fill: _fill, convert: _convert, ...rest } = field
  return rest
}

/** With the words of these storages about stored values, at the fields that are the same otherwise: a cluster does not keep them. */
export function withConversionsOf(now: Application, storages: Application['storages']): JsonObject {
  const withWords = (field: JsonValue, known: JsonValue | undefined) =>
    known !== undefined && sameJson(withoutConversion(known), field) ? known : field
  const all = Object.entries(now.storages).map(([name, storage]) => {
    const known = memberOf(storages, name)?.fields
    if (!isJsonObject(known) || !isJsonObject(storage.fields)) return [name, storage] as const
    const fields = Object.entries(storage.fields)
    const withAll = fields.map(([field, value]) => [field, withWords(value, memberOf(known, field))] as const)
    return [name, { ...storage, fields: namedObject(withAll) }] as const
  })
  return { ...now, storages: namedObject(all) }
}

/** What a release alone has: no object of the cluster changes with it. */
export function releasedOnly(before: Application, after: Application): readonly string[] {
  const maps = [
    ['seed/', '.ndjson', before.seed, after.seed],
    ['tests/', '.test.json', testsOf(before), testsOf(after)],
    ['tests/', '.ndjson', casesOf(before), casesOf(after)],
  ] as const
  return [
    ...(sameJson(before.about, after.about) ? [] : ['changed quoin.json']),
    ...maps.flatMap(([folder, end, was, is]) =>
      parts('setting', was, is).map(({ name, change }) => `${change} ${folder}${name}${end}`),
    ),
  ]
}

function testsOf({ tests }: Application): JsonObject {
  const all = Object.entries(tests).map(([name, object]) => [name, testAndCases(object).test] as const)
  return namedObject(all.flatMap(([name, test]) => (test ? [[name, test] as const] : [])))
}

function casesOf({ tests }: Application): JsonObject {
  const all = Object.entries(tests).map(([name, object]) => [name, testAndCases(object).cases] as const)
  return namedObject(all.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const])))
}

/** `changed storages/deals.json: field title changed, field note created`. */
export function changeText({ map, object, change, parts: changed }: ObjectChange): string {
  const file = isOneFileMap(map) ? `${map}.json: ${object}` : `${map}/${object}.json`
  if (changed.length === 0) return `${change} ${file}`
  return `${change} ${file}: ${changed.map(partText).join(', ')}`
}

/** `field note created`. */
export function partText({ kind, name, change, was }: PartChange): string {
  return was === undefined ? `${kind} ${name} ${change}` : `${kind} ${was} renamed to ${name}`
}

/** What an object has other than before, for people: cut around the first difference of each value, and without secrets. */
export interface ChangedValues {
  readonly map: PushedMap
  /** As {@link changeText} has it. */
  readonly step: string
  readonly lines: readonly ChangedValue[]
  /** There are more. */
  readonly isCut: boolean
}

export interface ChangedValue {
  /** `block reply, in › status`. */
  readonly what: string
  /** Empty: there was none. */
  readonly before: string
  readonly after: string
}

const MOST_OF_PART = 20
const MOST_OF_NEW = 50
const MOST_LINES = 300

/**
 * Of what is changed, in the order of the changes, and of what is new who may call and read it. Bounded: what comes late in a long
 * plan has no lines.
 */
export function changedValues(
  before: Application,
  after: Application,
  changes: readonly ObjectChange[],
): readonly ChangedValues[] {
  let left = MOST_LINES
  return changes.flatMap((change): ChangedValues[] => {
    const { map, object } = change
    const states = [memberOf(before[map], object) ?? {}, memberOf(after[map], object) ?? {}] as const
    const lines: ChangedValue[] = []
    let isCut = false
    const add = (all: Iterable<ChangedValue>, mostOf: number) => {
      const most = Math.min(mostOf, left - lines.length)
      let found = 0
      for (const line of all) {
        if (++found > most) break
        lines.push(line)
      }
      isCut ||= found > most
    }
    if (change.change === 'created') add(linesOfNew(map, states[1]), MOST_OF_NEW)
    if (change.change === 'changed')
      for (const part of change.parts)
        add(isOfScopes(map, part) ? scopeLines(states) : linesOfPart(map, part, states), MOST_OF_PART)
    left -= lines.length
    return lines.length === 0 && !isCut ? [] : [{ map, step: changeText(change), lines, isCut }]
  })
}

function isOfScopes(map: PushedMap, { name }: PartChange): boolean {
  return map === 'groups' && name === 'scopes'
}

/** Of a group: what its users get and lose. */
function* scopeLines([before, after]: readonly [JsonObject, JsonObject]): Generator<ChangedValue> {
  const [held, granted] = [before, after].map(({ scopes }) =>
    Array.isArray(scopes) ? scopes.map(String) : [],
  )
  const without = (some: readonly string[] = [], others: readonly string[] = []) =>
    textOf(
      shownAlone(
        some
          .filter((scope) => !others.includes(scope))
          .sort()
          .join(', '),
      ),
    )
  const [added, taken] = [without(granted, held), without(held, granted)]
  if (added !== '') yield { what: 'scopes', before: '', after: added }
  if (taken !== '') yield { what: 'scopes', before: taken, after: '' }
}

/** Scopes of a group; addresses and pages with the scopes that they ask for; rules of a storage, and its fields that are unique, secret or not open to all. */
function* linesOfNew(map: PushedMap, object: JsonObject): Generator<ChangedValue> {
  if (map === 'groups') yield* scopeLines([{}, object])
  if (map === 'blueprints')
    for (const block of Object.values(objectOrEmpty(object.blocks)))
      if (isJsonObject(block)) yield* triggerLines(block)
  if (map !== 'storages') return
  if (object.rules !== undefined)
    yield* linesOfPart(map, { kind: 'setting', name: 'rules', change: 'created' }, [{}, object])
  for (const [name, field] of Object.entries(objectOrEmpty(object.fields))) {
    const { unique, visible_to, settable_by } = objectOrEmpty(field)
    const secret = isSecretName(name) || undefined
    for (const [key, value] of Object.entries({ unique, secret, visible_to, settable_by }))
      if (value) yield newLine(`field ${name}, ${key}`, valueText(value))
  }
}

function* triggerLines({ type, in: pins, fields, scopes }: JsonObject): Generator<ChangedValue> {
  const { method } = /^on_startup_register_(?:uri_)?(?<method>\w+)$/.exec(String(type))?.groups ?? {}
  if (type !== 'state_page' && method === undefined) return
  const { uri, url } = objectOrEmpty(pins)
  const address = `/${String(uri ?? url ?? '').replace(/^\/+/, '')}`
  const called = method === 'resource' ? method : (method?.toUpperCase() ?? 'page')
  const what = `${called} ${address}`
  yield newLine(what, scopesText(scopes))
  const { write_scopes: writing } = objectOrEmpty(fields)
  if (Array.isArray(writing) && writing.length > 0)
    yield newLine(`${what}, write_scopes`, scopesText(writing))
}

/** Without scopes all may call it. */
function scopesText(scopes: JsonValue | undefined): string {
  const names = Array.isArray(scopes) ? scopes.map(String).sort() : []
  return names.join(', ') || '*public'
}

function newLine(what: string, after: string): ChangedValue {
  return { what: textOf(shownAlone(what)), before: '', after: textOf(shownAlone(after)) }
}

function* linesOfPart(
  map: PushedMap,
  part: PartChange,
  [before, after]: readonly [JsonObject, JsonObject],
): Generator<ChangedValue> {
  const { kind, name, was = name, change } = part
  if (change === 'removed' || change === 'moved') return
  const valueIn = (object: JsonObject, called: string) => {
    if (kind === 'block') return objectOrEmpty(memberOf(objectOrEmpty(object.blocks), called))
    if (kind === 'field')
      return objectOrEmpty(withoutConversion(memberOf(objectOrEmpty(object.fields), called) ?? {}))
    return memberOf(object, called)
  }
  const [old, now] = [valueIn(before, was), valueIn(after, name)]
  // Pins and settings by themselves, also where all of them are new.
  const parted = (value: typeof old) =>
    kind === 'block' && isJsonObject(value) ? { in: {}, fields: {}, ...value } : value
  for (const line of valueLines(parted(old), parted(now))) {
    const path = kind === 'setting' ? [name, ...line.path] : line.path
    const isHidden = (value: JsonValue) =>
      isSecretAt(path, value) ||
      (map === 'alerts' && name === 'webhook') ||
      (kind === 'field' && isSecretName(name) && path[0] === 'default_value')
    const [from, to] = shownPair(line.before, line.after, isHidden)
    const what = [`${kind} ${name}`, line.path.join(' › ')].filter(Boolean).join(', ')
    yield { what: textOf(shownAlone(what)), before: from, after: to }
  }
}

function shownPair(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  isHidden: (value: JsonValue) => boolean,
): readonly [string, string] {
  const shown = (value: JsonValue | undefined) => value && (isHidden(value) ? DOTS : withoutSecrets(value))
  const [old, now] = [shown(before), shown(after)]
  if (old === undefined || now === undefined) return [alone(old), alone(now)]
  const write = valueText(old) === valueText(now) ? exactText : valueText
  const [from, to] = shownDifference(write(old), write(now))
  return [textOf(from), textOf(to)]
}

function alone(value: JsonValue | undefined): string {
  return value === undefined ? '' : textOf(shownAlone(valueText(value)))
}

function textOf({ lead, differs, tail }: ShownText): string {
  return `${lead}${differs}${tail}`
}

const DOTS = '•••'
const isNameOfSecret = new RegExp(SECRET_NAME)

/** The pin `secret` of a block has the name of one, and a wire is none. */
function isSecretAt(path: readonly string[], value: JsonValue): boolean {
  const text = typeof value === 'string' ? value : ''
  const [first, pin = '', ...deeper] = path
  if (
    first === 'in' &&
    deeper.length === 0 &&
    (isWire(text) || (SECRET_PIN.test(pin) && isNameOfSecret.test(text)))
  )
    return false
  return path.some(isSecretName)
}

/** A value that is shown as a whole, which may hold others. */
function withoutSecrets(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replace(/\/\/[^/\s@]+@/g, `//${DOTS}@`)
  if (typeof value !== 'object' || value === null) return value
  if (isLargerThan(value, 2_000, 20_000)) return '(too large to show)'
  if (!isJsonObject(value)) return value.map(withoutSecrets)
  const secret = typeof value.name === 'string' && isSecretName(value.name)
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      name,
      isSecretName(name) || (secret && name === 'value') ? DOTS : withoutSecrets(one),
    ]),
  )
}

/** Lines for a terminal, below the line of the change. */
export function valueTexts({ lines, isCut }: Pick<ChangedValues, 'lines' | 'isCut'>): readonly string[] {
  const nothing = 'nothing'
  return [
    ...lines.map(({ what, before, after }) => `${what}: ${before || nothing} → ${after || nothing}`),
    ...(isCut ? ['and more'] : []),
  ]
}

/** Places of blocks that the folder leaves to the cluster are no difference. */
export function withoutUnplaced(now: Application, { blueprints }: Application): Application {
  const common = Object.entries(now.blueprints).map(([name, blueprint]) => {
    const { layout, ...rest } = blueprint
    const input = blueprints[name]?.layout ?? {}
    if (!isJsonObject(layout) || !isJsonObject(input)) return [name, blueprint] as const
    const places = Object.entries(layout).filter(([block]) => Object.hasOwn(input, block))
    return [name, { ...rest, layout: Object.fromEntries(places) }] as const
  })
  return { ...now, blueprints: Object.fromEntries(common) }
}
