import type { Identity } from '../../access/identity-cache.ts'
import { holds } from '../../access/scopes.ts'
import type { LiveTable } from '../../flows/live/live-blueprints.ts'
import type { FieldRule } from '../../shared/field-rule.ts'
import { isJsonObject } from '../../shared/json.ts'
import { type LruCache, lruCache } from '../../shared/lru-cache.ts'
import type { MaybePromise } from '../../shared/maybe-promise.ts'
import { describeEndpoints, storagesOf } from './describe-endpoints.ts'
import type { ExtraPaths } from './open-api-document.ts'

/**
 * The endpoints of active blueprints that a caller may enter: the same object for callers who may enter the same, until a
 * blueprint is deployed or the rules of a field change. What is made of it (JSON, a page) can be kept by that object.
 *
 * @param managementIds names of the other operations of the document
 */
export type DescribeEndpoints = (
  identity: Identity | undefined,
  managementIds: ReadonlySet<string>,
) => Promise<ExtraPaths>

type RulesOf = (storage: string) => MaybePromise<readonly FieldRule[]>

/** Descriptions are a few hundred kilobytes in a large cluster, so only those of few kinds of callers are kept. */
const MOST_SIGHTS = 8

export function endpointDescriptions(table: () => LiveTable, rulesOf: RulesOf): DescribeEndpoints {
  let cached:
    | { table: LiveTable; rules: readonly unknown[]; bySight: LruCache<string, ExtraPaths> }
    | undefined
  return async (identity, managementIds) => {
    const now = table()
    const rules: unknown[] = []
    // One after the other: the first reads the rules of all.
    for (const storage of usedStorages(now)) rules.push(await rulesOf(storage))
    if (cached?.table !== now || cached.rules.some((rule, index) => rule !== rules[index]))
      cached = { table: now, rules, bySight: lruCache(MOST_SIGHTS) }
    const { bySight } = cached
    const sight = sightOf(now, identity)
    const known = bySight.get(sight)
    if (known) return known
    const paths = await describeEndpoints({ table: now, identity, managementIds, rulesOf })
    bySight.set(sight, paths)
    return paths
  }
}

function usedStorages({ blueprints }: LiveTable): readonly string[] {
  return [...new Set([...blueprints.values()].flatMap(({ compiled }) => [...storagesOf(compiled)]))]
}

/** What decides which endpoints a caller may enter: the scopes held, of those that any endpoint asks for. */
function sightOf({ blueprints }: LiveTable, identity: Identity | undefined): string {
  if (identity === undefined) return ''
  const asked = new Set<string>()
  for (const { compiled } of blueprints.values())
    for (const { scopes } of compiled.endpoints) for (const scope of scopes) asked.add(scope)
  return ['*loggedin', ...[...asked].filter((scope) => holds(identity.scopes, scope)).sort()].join('\n')
}

/**
 * What holds schemas, with the defaults of their properties in words. Generators of clients take a property with `default` for
 * one that is always there, so a client would have to send it.
 */
export function withDescribedDefaults(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withDescribedDefaults)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === 'properties' && isJsonObject(one) ? describedProperties(one) : withDescribedDefaults(one),
    ]),
  )
}

function describedProperties(properties: object): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      withDescribedDefault(withDescribedDefaults(schema)),
    ]),
  )
}

function withDescribedDefault(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema
  const { default: usual, description, ...others } = schema
  if (usual === undefined) return schema
  const reported = `Default: \`${JSON.stringify(usual)}\`.`
  return { ...others, description: typeof description === 'string' ? `${description} ${reported}` : reported }
}
