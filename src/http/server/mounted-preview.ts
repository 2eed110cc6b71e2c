/**
 * A preview is a space below `/~name/` of the cluster's own host. Its server knows nothing of that: what comes in loses the prefix here, and
 * what goes out gets it: redirects, cookies, the policy of pages, and the addresses in their HTML.
 *
 * Browsers separate sites by host, and this one is that of the live pages and the studio. Therefore
 * - cookies have names of their own: a session of the cluster never reaches the preview, nor the other way round;
 * - pages may load from and send to addresses below the prefix alone, so that a script of theirs does not change live data by an address
 *   that begins with `/api`;
 * - nothing of the management API changes anything but who is signed in, and there is no studio: who has the password of a preview could
 *   write scripts for this host otherwise, which takes a scope of the cluster.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PREVIEW_MARK } from '../../records/spaces.ts'
import { reservedPageRoots, reservedRoots } from './reserved-roots.ts'

/** The first segment of the path where it may be that of a preview. */
export function previewSegment(url: string): string | undefined {
  if (!url.startsWith(`/${PREVIEW_MARK}`)) return undefined
  return /^\/([^/?]*)/.exec(url)?.[1]
}

/** False for what a preview does not serve; the request is as it was then. `segment`: as `previewSegment` gives it. */
export function mountPreview(request: IncomingMessage, response: ServerResponse, segment: string): boolean {
  const { url = '', headers } = request
  const rest = url.slice(segment.length + 1)
  const inside = rest.startsWith('/') ? rest : `/${rest}`
  const host = headers.host ?? ''
  if (!isServed(request.method ?? '', inside) || !/^[a-z0-9.:[\]-]+$/i.test(host)) return false
  request.url = inside
  const own = ownCookies(headers.cookie ?? '', segment)
  if (own === '') delete headers.cookie
  else headers.cookie = own
  // Pages are changed on their way out.
  delete headers['accept-encoding']
  rewrite(response, { segment, host })
  return true
}

const signIn = new Set(['auth/signin', 'auth/signout', 'auth/login', 'auth/logout'])
const pageRoots = new Set(['_approvals', '_pages', 'api', 'static'])

function isServed(method: string, url: string): boolean {
  // No client sends it, and the router would cut the path there.
  if (url.includes('#')) return false
  let path: string
  try {
    path = decodeURIComponent(url.replace(/\?.*/s, '')).toLowerCase()
  } catch {
    return false
  }
  const [first = '', , ...segments] = path.split('/').filter((one) => one !== '')
  if (reservedPageRoots.has(first) && !pageRoots.has(first)) return false
  const [root = ''] = segments
  if (first !== 'api' || !reservedRoots.has(root) || root === '_hooks') return true
  return method === 'GET' || method === 'HEAD' || (method === 'POST' && signIn.has(segments.join('/')))
}

const cookiesOf = (segment: string) => `${segment}.`

function ownCookies(cookies: string, segment: string): string {
  const mark = cookiesOf(segment)
  return cookies
    .split(';')
    .map((one) => one.trim())
    .filter((one) => one.startsWith(mark))
    .map((one) => one.slice(mark.length))
    .join('; ')
}

interface Mount {
  readonly segment: string
  readonly host: string
}

/** Names and values in turns. */
type Head = readonly (readonly [string, string | readonly string[]])[]

function rewrite(response: ServerResponse, mount: Mount): void {
  const { writeHead, write, end } = response
  /** Of a page, until it is whole: it is in memory as it is. */
  let page: Buffer[] | undefined
  response.writeHead = (status: number, ...more: unknown[]) => {
    const head = headOf(more.at(-1))
    const isPage = head.some(
      ([name, value]) => name === 'content-type' && String(value).startsWith('text/html'),
    )
    if (isPage) page = []
    const others = head.filter(([name]) => !isPage || name !== 'content-length')
    const sent = others.map(([name, value]) => [name, changed(name, value, mount)] as const)
    return Reflect.apply(writeHead, response, [status, sent.flat()])
  }
  response.write = (...input: unknown[]) => {
    if (!response.headersSent) response.writeHead(response.statusCode)
    if (!page) return Reflect.apply(write, response, input)
    add(page, input)
    input.find((one) => typeof one === 'function')?.()
    return true
  }
  response.end = (...input: unknown[]) => {
    if (!page) return Reflect.apply(end, response, input)
    add(page, input)
    const whole = Buffer.concat(page).toString()
    page = undefined
    const done = input.filter((one) => typeof one === 'function')
    return Reflect.apply(end, response, [withPrefix(whole, mount), ...done])
  }
}

function add(page: Buffer[], [chunk, encoding]: readonly unknown[]): void {
  if (typeof chunk === 'string') page.push(Buffer.from(chunk, encoding === 'latin1' ? 'latin1' : 'utf8'))
  else if (chunk instanceof Uint8Array) page.push(Buffer.from(chunk))
}

/** As `writeHead` takes them: an object, or names and values in turns. */
function headOf(input: unknown): Head {
  const pairs: (readonly [string, string | readonly string[]])[] = []
  const push = (name: unknown, value: unknown) => {
    if (value === undefined) return
    pairs.push([String(name).toLowerCase(), Array.isArray(value) ? value.map(String) : String(value)])
  }
  if (Array.isArray(input)) for (let at = 0; at < input.length; at += 2) push(input[at], input[at + 1])
  else if (typeof input === 'object' && input !== null)
    for (const [name, value] of Object.entries(input)) push(name, value)
  return pairs
}

function changed(name: string, value: string | readonly string[], mount: Mount): string | readonly string[] {
  if (typeof value !== 'string') return value.flatMap((one) => changed(name, one, mount))
  const { segment, host } = mount
  switch (name) {
    case 'location':
    case 'content-location':
      return isRooted(value) ? `/${segment}${value}` : value
    case 'set-cookie':
      return `${cookiesOf(segment)}${value.replace(/; *Path=\//i, `; Path=/${segment}/`)}`
    case 'content-security-policy':
      return value.replaceAll("'self'", `${host}/${segment}/`)
    default:
      return value
  }
}

/** An address of this host. */
function isRooted(address: string): boolean {
  return /^\/(?![/\\])/.test(address)
}

/** Quotes in texts and values are escaped, so that this is the beginning of an attribute and nothing else. */
function withPrefix(html: string, { segment }: Mount): string {
  return html.replace(
    /( (?:href|src|action|formaction|poster|data-events)=")\/(?![/\\])/g,
    (_whole, before: string) => `${before}/${segment}/`,
  )
}
