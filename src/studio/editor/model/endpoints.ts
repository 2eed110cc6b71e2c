import { RESOURCE_TYPE } from '../../../shared/resource/resource.ts'
import { resourceEndpoints } from '../../../shared/resource/resource-endpoints.ts'
import { isOpenable, pagePath } from '../../controls/pages/page-path.ts'
import { type Flow, inPinOf, wiresOf } from './flow.ts'
import { methodOf } from './words/block-names.ts'

export interface Endpoint {
  readonly block: string
  readonly method: string
  /** As the builder wrote it: `tasks/{guid}`. */
  readonly uri: string
  readonly scopes: readonly string[]
}

/** The endpoints that the flow registers, in the order of their addresses. Those without a URI are not among them. */
export function endpointsOf(flow: Flow): Endpoint[] {
  const found = [...flow].flatMap(([block, content]): Endpoint[] => {
    if (content.type === RESOURCE_TYPE)
      return resourceEndpoints(content).map((endpoint) => ({ block, ...endpoint }))
    const method = methodOf(content.type)
    const uri = inPinOf(content, 'uri')?.value
    if (method === undefined || typeof uri !== 'string' || uri === '') return []
    return [{ block, method, uri: uri.replace(/^\/+/, ''), scopes: content.scopes }]
  })
  return found.toSorted((a, b) => a.uri.localeCompare(b.uri) || order(a.method) - order(b.method))
}

function order(method: string): number {
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'ANY'].indexOf(method)
}

/** The names of a URI's parameters: `{guid}`, `:guid`, `{path...}`. */
export function parametersOf(uri: string): string[] {
  return [...uri.matchAll(/\{(\w+)(?:\.\.\.)?\}|:(\w+)/g)].map(([, braced, colon]) => braced ?? colon ?? '')
}

/** The URI with its parameters filled in. One that takes the rest of the path keeps its slashes. */
export function filledUri(uri: string, values: Readonly<Record<string, string>>): string {
  return uri.replace(/\{(\w+)(\.\.\.)?\}|:(\w+)/g, (_all, braced?: string, rest?: string, colon?: string) => {
    const value = values[braced ?? colon ?? ''] ?? ''
    return rest ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
  })
}

/** The block behind an endpoint that checks signatures, where there is one. */
export function signatureCheckOf(flow: Flow, endpoint: string): string | undefined {
  const next = Map.groupBy(wiresOf(flow), ({ from }) => from.block)
  const seen = new Set([endpoint])
  for (const block of seen) {
    if (flow.get(block)?.type === 'check_signature') return block
    for (const { to } of next.get(block) ?? []) if (to.pin === 'flow') seen.add(to.block)
  }
  return undefined
}

export interface FlowPage {
  readonly block: string
  /** `/books`, or `/books/{guid}`. */
  readonly path: string
}

/** The pages that the flow registers, by path. Those whose address comes from a wire are not among them. */
export function pagesOf(flow: Flow): FlowPage[] {
  const found = [...flow].flatMap(([block, content]): FlowPage[] => {
    const path = content.type === 'state_page' ? pagePath(inPinOf(content, 'url')?.value) : undefined
    return path === undefined ? [] : [{ block, path }]
  })
  return found.toSorted((a, b) => a.path.localeCompare(b.path))
}

/** Those that a browser can open without more. */
export function openablePagesOf(flow: Flow): FlowPage[] {
  return pagesOf(flow).filter(({ path }) => isOpenable(path))
}
