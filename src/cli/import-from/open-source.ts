/** Kinds of sources, and the flags of an import as what reads them. */
import type { TextDialect } from '../../shared/fields/value-of-text.ts'
import type { JsonValue } from '../../shared/json.ts'
import { readObject } from '../read-blueprint-file.ts'
import { UsageError } from '../read-words.ts'
import type { MadeBlueprint } from './flows/openapi-blueprint.ts'
import type { PresentFields, Source } from './source.ts'

export interface SourceFlags {
  readonly key?: string | undefined
  readonly types?: string | undefined
  readonly decimal?: string | undefined
  readonly dates?: string | undefined
  readonly schema?: string | undefined
  readonly 'time-zone'?: string | undefined
  readonly users?: boolean | undefined
}

type OpenSource = (present: PresentFields) => Promise<Source>

interface SourceKind {
  /** That it takes. */
  readonly flags: readonly (keyof SourceFlags)[]
  readonly open: (source: string, flags: SourceFlags) => OpenSource
}

const tables: SourceKind = { flags: ['key', 'types', 'decimal', 'dates'], open: openTables }

export const sourceKinds: Readonly<Record<string, SourceKind>> = {
  csv: tables,
  xlsx: tables,
  postgres: { flags: ['types', 'schema', 'time-zone'], open: openSchema },
  pocketbase: { flags: ['users'], open: openCollections },
  directus: { flags: [], open: openSnapshot },
}

type ReadFlows = (document: JsonValue) => MadeBlueprint

/** Kinds of sources of flows, which become a blueprint. */
export const flowKinds: Readonly<Record<string, () => Promise<ReadFlows>>> = {
  openapi: async () => (await import('./flows/openapi-blueprint.ts')).openApiBlueprint,
  n8n: async () => (await import('./flows/n8n-blueprint.ts')).n8nBlueprint,
}

/** Throws UsageError for a kind or flags that it does not know. */
export function sourceOf(kind: string, source: string, flags: SourceFlags): OpenSource {
  const known = Object.hasOwn(sourceKinds, kind) ? sourceKinds[kind] : undefined
  if (!known)
    throw new UsageError(
      `There is no kind ${JSON.stringify(kind)}. Use one of: ${[...Object.keys(sourceKinds), ...Object.keys(flowKinds)].join(', ')}.`,
    )
  for (const [flag, value] of Object.entries(flags))
    if (value !== undefined && !known.flags.some((one) => one === flag))
      throw new UsageError(`import-from ${kind} does not take --${flag}.`)
  return known.open(source, flags)
}

function openTables(path: string, { key, types, decimal, dates }: SourceFlags): OpenSource {
  if (decimal !== undefined && decimal !== 'point' && decimal !== 'comma')
    throw new UsageError(`--decimal is point or comma, not ${JSON.stringify(decimal)}.`)
  if (dates !== undefined && dates !== 'dmy' && dates !== 'mdy' && dates !== 'ymd')
    throw new UsageError(`--dates is dmy, mdy or ymd, not ${JSON.stringify(dates)}.`)
  const dialect: TextDialect = { ...(decimal && { decimal }), ...(dates && { dates }) }
  const reading = { dialect, keys: textsOf('key', key), types: typesOf(types) }
  return async (present) => {
    const { openTableFolder } = await import('./files/table-folder.ts')
    return openTableFolder(path, reading, present)
  }
}

function openSchema(
  address: string,
  { types, schema = 'public', 'time-zone': timeZone = 'UTC' }: SourceFlags,
): OpenSource {
  const reading = { schema, timeZone, types: typesOf(types) }
  return async () => {
    const { openPostgres } = await import('./postgres/postgres-source.ts')
    return openPostgres(address, reading)
  }
}

function openCollections(path: string, { users = false }: SourceFlags): OpenSource {
  return async () => {
    const { openPocketBase } = await import('./collections/pocketbase-source.ts')
    return openPocketBase(path, users)
  }
}

function openSnapshot(path: string): OpenSource {
  return async () => {
    const { openDirectus } = await import('./collections/directus-source.ts')
    return openDirectus(path)
  }
}

function textsOf(flag: string, json: string | undefined): Readonly<Record<string, string | null>> {
  const texts: Record<string, string | null> = {}
  for (const [name, value] of Object.entries(readObject(flag, json))) {
    if (value !== null && typeof value !== 'string')
      throw new UsageError(`--${flag} must be a JSON object of texts; ${JSON.stringify(name)} is none.`)
    texts[name] = value
  }
  return texts
}

function typesOf(json: string | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(textsOf('types', json)).map(([name, text]) => {
      if (text === null) throw new UsageError(`--types has no type for ${JSON.stringify(name)}.`)
      return [name, text]
    }),
  )
}
