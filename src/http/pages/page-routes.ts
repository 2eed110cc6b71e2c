import findMyWay from 'find-my-way'
import type { CompiledPage } from '../../flows/compile/frame.ts'
import type { LiveTable } from '../../flows/live/live-blueprints.ts'

/** A page of an active blueprint, found for a request. */
export interface FoundPage {
  readonly page: CompiledPage
  readonly blueprint: string
  readonly blueprintName: string
  /** Parameters of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>
}

export type FindPage = (path: string) => FoundPage | undefined

/** The pages of all active blueprints; built again for each table, as `endpoint-table.ts` does for endpoints. */
export function pageRoutes(table: LiveTable): FindPage {
  const router = findMyWay({ ignoreTrailingSlash: true, maxParamLength: 256 })
  const owners = new Map<unknown, Omit<FoundPage, 'parameters'>>()
  for (const { compiled, name } of table.blueprints.values()) {
    for (const page of compiled.pages) {
      const handler = () => undefined
      owners.set(handler, { page, blueprint: compiled.guid, blueprintName: name })
      router.on('GET', routePattern(page.listening.uri), handler)
    }
  }
  return (path) => {
    const found = router.find('GET', path)
    const owner = found ? owners.get(found.handler) : undefined
    if (!found || !owner) return undefined
    return { ...owner, parameters: namedParameters(found.params, owner.page.listening.uri) }
  }
}

const known = new WeakMap<LiveTable, FindPage>()

/** The pages of the table of the moment: made once for each table. */
export function pagesOf(table: LiveTable): FindPage {
  const find = known.get(table) ?? pageRoutes(table)
  known.set(table, find)
  return find
}

/** `files/{id}/{path...}` in the router's own spelling; the rest of a path is always called `*` there. */
function routePattern(uri: string): string {
  return `/${uri.replace(/\{[^{}]+\.\.\.\}$/, '*').replace(/\{([^{}]+)\}/g, ':$1')}`
}

function namedParameters(
  found: Readonly<Record<string, string | undefined>>,
  uri: string,
): Record<string, string> {
  const rest = /\{([^{}]+)\.\.\.\}$/.exec(uri)?.[1] ?? '*'
  const named: Record<string, string> = {}
  for (const [name, value] of Object.entries(found))
    if (value !== undefined) named[name === '*' ? rest : name] = value
  return named
}
