import { createHash } from 'node:crypto'
import { isJsonObject, type JsonValue } from '../../shared/json.ts'
import type { ApiDocument } from './api-document.ts'

/** What says nothing of how an operation is called and what it replies. */
const ABOUT = new Set([
  'description',
  'summary',
  'title',
  'example',
  'examples',
  'externalDocs',
  'tags',
  'deprecated',
])

interface Part {
  readonly hash: string
  /** What it refers to. */
  readonly refs: readonly string[]
}

/**
 * The hash of an operation changes when a request or a reply of it may look different, and stays when only texts about it do. Each part
 * that operations share is looked at once.
 */
export function operationHashes(
  document: ApiDocument,
): (parts: readonly (JsonValue | undefined)[]) => string {
  const known = new Map<string, Part>()
  const partAt = (ref: string): Part => {
    const before = known.get(ref)
    if (before) return before
    const part = partOf(document.at(ref))
    known.set(ref, part)
    return part
  }
  return (parts) => {
    const own = partOf(parts.map((one) => one ?? null))
    const reached = new Set(own.refs)
    for (const ref of reached) for (const next of partAt(ref).refs) reached.add(next)
    const hashes = [...reached].sort().map((ref) => `${ref} ${partAt(ref).hash}`)
    return hashed([own.hash, ...hashes].join('\n'))
  }
}

function partOf(value: JsonValue): Part {
  const refs = new Set<string>()
  return { hash: hashed(JSON.stringify(plain(value, refs, false))), refs: [...refs] }
}

/** With sorted names and without texts. In `properties` and the like a name is a name: a field may be called title. */
function plain(value: JsonValue, refs: Set<string>, areNames: boolean): JsonValue {
  if (Array.isArray(value)) return value.map((one) => plain(one, refs, false))
  if (!isJsonObject(value)) return value
  if (!areNames && typeof value.$ref === 'string') refs.add(value.$ref)
  return Object.keys(value)
    .filter((name) => areNames || !(ABOUT.has(name) || name.startsWith('x-')))
    .sort()
    .map((name) => [name, plain(value[name] ?? null, refs, !areNames && NAMING.has(name))])
}

const NAMING = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'headers',
  'content',
  'responses',
  'encoding',
  'dependentSchemas',
])

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}
