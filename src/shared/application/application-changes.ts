/** What has to change to make one state of an application another one. Pure. */

import { isJsonObject, type JsonObject, type JsonValue, memberOf, namedObject, sameJson } from '../json.ts'
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
  readonly change: 'created' | 'changed' | 'removed' | 'renamed'
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
  const moved = { before: { layout: placesOf(wasLayout, isLayout) }, after: { layout: isLayout ?? {} } }
  return [
    ...settings(was, is),
    ...parts('block', wasBlocks, isBlocks),
    ...settings(moved.before, moved.after),
  ]
}

/** A file need not say where its blocks stand: those that it leaves out stay where they are. */
function placesOf(before: JsonValue | undefined, after: JsonValue | undefined): JsonObject {
  const places = isJsonObject(before) ? before : {}
  const names = isJsonObject(after) ? Object.keys(after) : []
  return Object.fromEntries(names.map((name) => [name, memberOf(places, name) ?? null]))
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
