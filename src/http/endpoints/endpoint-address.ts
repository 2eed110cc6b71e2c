import { parse } from 'node:querystring'

/** The address without a parameter, by its decoded name: `access%5Ftoken` signs in too. */
export function withoutParameter(url: string, name: string): string {
  const at = url.indexOf('?')
  if (at < 0) return url
  const kept = url
    .slice(at + 1)
    .split('&')
    .filter((pair) => !names(pair, name))
  return kept.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${kept.join('&')}`
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
