import { PinError } from './block.ts'

const MAX_LENGTH = 512
/** What a path may hold without being escaped, and nothing that a proxy might read otherwise. */
const PLAIN = /^[A-Za-z0-9._~-]+$/
const PARAMETER =
  /^(?:\{(?<braced>[A-Za-z_][A-Za-z0-9_]*)(?<rest>\.\.\.)?\}|:(?<colon>[A-Za-z_][A-Za-z0-9_]*))$/

/**
 * The one spelling of a URI that a builder wrote for an endpoint: `/tasks/:guid` becomes `tasks/{guid}`. Parameters are
 * whole segments: `{name}`, `:name`, or `{name...}` for all that is left. Throws PinError('uri', …).
 */
export function endpointUri(written: string): string {
  const uri = written.trim().replace(/^\//, '')
  if (uri === '') throw new PinError('uri', 'is empty')
  if (uri.length > MAX_LENGTH) throw new PinError('uri', `must be at most ${MAX_LENGTH} characters long`)
  if (/^api\/v\d+(\/|$)/i.test(uri))
    throw new PinError('uri', 'must be what follows /api/v1/, such as tasks or tasks/{guid}')
  const segments = uri.split('/')
  const names = new Set<string>()
  return segments.map((segment, at) => segmentOf(segment, at === segments.length - 1, names)).join('/')
}

function segmentOf(segment: string, last: boolean, names: Set<string>): string {
  if (segment === '')
    throw new PinError('uri', 'must have something between its slashes, and none at the end')
  if (segment === '.' || segment === '..') throw new PinError('uri', `may not have the segment ${segment}`)
  if (PLAIN.test(segment)) return segment
  const { braced, rest, colon } = PARAMETER.exec(segment)?.groups ?? {}
  const name = braced ?? colon
  if (name === undefined) {
    const allowed = 'letters, digits, . _ ~ and -, or a parameter such as {guid} or {path...}'
    throw new PinError('uri', `has the segment ${JSON.stringify(segment)}: a segment is ${allowed}`)
  }
  if (rest && !last) throw new PinError('uri', `must end with {${name}...}, which takes all that is left`)
  if (name === '__proto__') throw new PinError('uri', `may not have a parameter named ${name}`)
  if (names.has(name)) throw new PinError('uri', `has the parameter ${name} twice`)
  names.add(name)
  return `{${name}${rest ?? ''}}`
}
