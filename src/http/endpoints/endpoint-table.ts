import { parse } from 'node:querystring'
import findMyWay, { type HTTPMethod } from 'find-my-way'
import type { CompiledEndpoint } from '../../flows/compile/frame.ts'
import { endpointMethods } from '../../flows/compile/read-triggers.ts'
import type { LiveTable } from '../../flows/live/live-blueprints.ts'

/** An endpoint of an active blueprint, found for a request. */
export interface FoundEndpoint {
  readonly endpoint: CompiledEndpoint
  readonly blueprint: string
  readonly blueprintName: string
  /** Which deployment of the blueprint it is of: another object after each. */
  readonly compiled: object
  /** Parameters of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
}

export type FindEndpoint = (method: string, path: string) => FoundEndpoint | undefined

type Owner = Omit<FoundEndpoint, 'parameters'>

/**
 * The routes of all active blueprints. Built again for each table (3 ms for 400 routes) and never changed: find-my-way
 * builds its whole tree anyway when one route is taken out, and so a request sees the old table or the new one.
 */
export function endpointTable(table: LiveTable): FindEndpoint {
  const router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 256 })
  const owners = new Map<unknown, Owner & { readonly rest: string | undefined }>()
  const all = [...table.blueprints.values()].flatMap(({ compiled, name }) =>
    compiled.endpoints.map(
      (endpoint): Owner => ({ endpoint, blueprint: compiled.guid, blueprintName: name, compiled }),
    ),
  )
  const methodsOf = endpointMethods(all.map(({ endpoint }) => endpoint))
  for (const owner of all) {
    const { endpoint } = owner
    const { uri } = endpoint.listening
    const handler = () => undefined
    owners.set(handler, { ...owner, rest: /\{([^{}]+)\.\.\.\}$/.exec(uri)?.[1] })
    const methods = [...methodsOf(endpoint)]
    if (methods.length > 0) router.on(methods, routePattern(uri), handler)
  }
  return (method, path) => {
    // HEAD is answered as GET without the body.
    const found = router.find(method === 'HEAD' ? 'GET' : (method as HTTPMethod), path)
    const owner = found ? owners.get(found.handler) : undefined
    if (!found || !owner) return undefined
    const { endpoint, blueprint, blueprintName, compiled, rest } = owner
    const parameters = namedParameters(found.params, rest)
    return { endpoint, blueprint, blueprintName, compiled, parameters }
  }
}

/** `files/{id}/{path...}` in the router's own spelling; the rest of a path is always called `*` there. */
function routePattern(uri: string): string {
  return `/${uri.replace(/\{[^{}]+\.\.\.\}$/, '*').replace(/\{([^{}]+)\}/g, ':$1')}`
}

/** `rest`: the name of the rest of the path, if there is one. */
function namedParameters(
  found: Readonly<Record<string, string | undefined>>,
  rest: string | undefined,
): Record<string, string> {
  const named: Record<string, string> = {}
  for (const name in found) {
    const value = found[name]
    if (value !== undefined) named[name === '*' ? (rest ?? name) : name] = value
  }
  return named
}

/** The address without a parameter, by its decoded name: `access%5Ftoken` signs in too. */
export function withoutParameter(url: string, name: string): string {
  const at = url.indexOf('?')
  if (at < 0) return url
  const remaining = url
    .slice(at + 1)
    .split('&')
    .filter((pair) => !names(pair, name))
  return remaining.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${remaining.join('&')}`
}

export function hasParameter(url: string, name: string): boolean {
  const at = url.indexOf('?')
  if (at < 0) return false
  return url
    .slice(at + 1)
    .split('&')
    .some((pair) => names(pair, name))
}

/** Whether a pair of a query has this name, as the parser of the query decodes names. */
function names(pair: string, name: string): boolean {
  if (!pair.startsWith(name) && !pair.includes('%')) return false
  return Object.hasOwn(parse(pair), name)
}
