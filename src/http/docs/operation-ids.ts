import type { CompiledEndpoint } from '../../flows/compile/frame.ts'

/**
 * Names of custom endpoints in the OpenAPI document, which clients are generated from: `get_tasks_guid`. No two are the
 * same, also after a generator has changed their case and dropped their punctuation (`get_a-b` and `get_a/b` become
 * `getAB`): those that would be get a suffix made of their address, so that neither depends on the order of the other.
 *
 * @param endpoints all of the live table, not only those a caller may see: a name is the same for every caller
 * @param taken names of the management operations
 */
export function operationIds(
  endpoints: readonly CompiledEndpoint[],
  taken: Iterable<string>,
): ReadonlyMap<CompiledEndpoint, string> {
  const counts = new Map<string, number>()
  for (const id of taken) counts.set(folded(id), 1)
  for (const endpoint of endpoints) {
    const key = folded(plainId(endpoint))
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return new Map(
    endpoints.map((endpoint) => {
      const id = plainId(endpoint)
      return [endpoint, counts.get(folded(id)) === 1 ? id : `${id}_${suffix(endpoint)}`]
    }),
  )
}

function plainId({ listening: { method, uri } }: CompiledEndpoint): string {
  return `${method.toLowerCase()}_${uri.replace(/[^A-Za-z0-9]+/g, '_').replace(/_$/, '')}`
}

const folded = (id: string): string => id.replace(/[^A-Za-z0-9]/g, '').toLowerCase()

/** FNV-1a of method and URI, 32 bits: eight hexadecimal digits. */
function suffix({ listening: { method, uri } }: CompiledEndpoint): string {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(`${method} ${uri}`)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}
