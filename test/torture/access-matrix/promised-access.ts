/** Who may call which management endpoint, as docs/access.md says: one rule, and a table of the endpoints that differ. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every caller, any signed-in user, or users who hold all of these scopes. */
export type Access = 'every caller' | 'signed-in' | readonly string[]

export interface Endpoint {
  readonly method: string
  /** As the OpenAPI document writes it: `/api/v1/users/{guid}`. */
  readonly path: string
}

export interface PromisedAccess {
  of(endpoint: Endpoint): Access
  /** The endpoints of the table: one that does not exist is a mistake in it. */
  readonly listed: readonly string[]
}

const page = join(import.meta.dirname, '..', '..', '..', 'docs', 'access.md')
const row = /^\| `([A-Z]+) (\/[^`]+)` \| (.+) \|$/gm

export function promisedAccess(text = readFileSync(page, 'utf8')): PromisedAccess {
  const table = new Map(
    [...text.matchAll(row)].map(([, method, path, who = '']) => [`${method} ${path}`, who]),
  )
  if (table.size === 0) throw new Error('docs/access.md has no table of endpoints.')
  return {
    of(endpoint) {
      const who = table.get(nameOf(endpoint))
      return who === undefined ? byRule(endpoint) : inWords(who)
    },
    listed: [...table.keys()],
  }
}

/** As the table writes it: without what all have in front. */
export const nameOf = ({ method, path }: Endpoint): string =>
  `${method} ${path.replace(/^\/api\/v1(?=\/)/, '')}`

const verbs: Readonly<Record<string, string>> = {
  GET: 'view',
  POST: 'create',
  PUT: 'update',
  DELETE: 'remove',
}

function byRule({ method, path }: Endpoint): readonly string[] {
  const [resource = ''] = path
    .split('/')
    .slice(3)
    .filter((part) => part !== '_system')
  const verb = path.endsWith('/search') ? 'view' : verbs[method]
  return [`${resource.replaceAll('-', '_')}_${verb}`]
}

function inWords(who: string): Access {
  const scopes = [...who.matchAll(/`([a-z_]+)`/g)].map(([, scope = '']) => scope)
  if (scopes.length > 0) return scopes
  if (who === 'every caller') return 'every caller'
  if (who === 'any signed-in user') return 'signed-in'
  throw new Error(`docs/access.md: "${who}" is neither scopes nor "every caller" nor "any signed-in user".`)
}
