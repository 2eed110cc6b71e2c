/**
 * Objects of an application that are small and stand together in one file each: `connections.json`, `alerts.json`, `views.json`, `queues.json`,
 * and `groups.json`. A file has one part, by the name of the file: `{ "connections": { "shop": { "base_url": "…" } } }`.
 *
 * The OpenAPI document of a connection is its part `document`, and a file of its own: `connections/shop.openapi.json`, as it was sent.
 *
 * Secrets are named in them and never contained. Of a queue the file has how many jobs run at once; whether it is paused is for the people who
 * operate the cluster.
 */
import { type JsonObject, memberOf, sameJson } from '../json.ts'

export const clusterMaps = ['connections', 'alerts', 'views', 'queues'] as const
export type ClusterMap = (typeof clusterMaps)[number]

/** Maps that are one file, which is named as they are. */
export const oneFileMaps = ['groups', ...clusterMaps] as const
export type OneFileMap = (typeof oneFileMaps)[number]

export function isOneFileMap(map: string): map is OneFileMap {
  return oneFileMaps.some((one) => one === map)
}

export function isClusterMap(map: string): map is ClusterMap {
  return clusterMaps.some((one) => one === map)
}

/** What a file says of one, in the order in which it does, each with what is left out; undefined for what must be said. */
const parts: Readonly<Record<ClusterMap, Readonly<Record<string, JsonObject[string] | undefined>>>> = {
  connections: { base_url: undefined, auth: { kind: 'none' }, headers: {}, description: '', document: '' },
  alerts: {
    ...{ figure: undefined, threshold: undefined, minutes: 5, mail: [], webhook: '', secret: '' },
    ...{ active: true, description: '' },
  },
  views: { storage: undefined, address: undefined },
  queues: { concurrency: null },
}

/** As the file has it: in its order, without what is at its default. What is unknown stays, for a check to refuse. */
export function normalClusterObject(map: ClusterMap, object: JsonObject): JsonObject {
  const known = parts[map]
  const others = Object.keys(object).filter((name) => !Object.hasOwn(known, name))
  const names = [...Object.keys(known), ...others.sort()]
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = memberOf(object, name)
      return value === undefined || sameJson(value, memberOf(known, name) ?? null) ? [] : [[name, value]]
    }),
  )
}

/** The same of a stored record. */
export function clusterObjectOf(map: ClusterMap, record: JsonObject): JsonObject {
  const names = Object.keys(parts[map])
  return normalClusterObject(
    map,
    Object.fromEntries(Object.entries(record).filter(([name]) => names.includes(name))),
  )
}

/** All that the object says, with what the file leaves out: a record is changed to this. */
export function wholeClusterObject(map: ClusterMap, object: JsonObject): JsonObject {
  const known = Object.entries(parts[map]).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  )
  return { ...Object.fromEntries(known), ...object }
}
