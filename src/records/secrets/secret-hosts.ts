/** Where the text of a secret may be sent: a list of hosts. */
import { invalidField } from '../../shared/errors.ts'

const PORT = /:(\d{1,5})$/

/** Hosts as they are stored: lower case, each once. Throws INVALID_BODY for what is no `host` and no `host:port`. */
export function secretHosts(given: readonly string[]): string[] {
  const hosts = given.map((entry) => {
    const host = writtenHost(entry.trim())
    if (host !== undefined) return host
    throw invalidField(
      'hosts',
      `hosts must hold names such as api.example.com or api.example.com:8443, without scheme, path and *; got ${JSON.stringify(entry)}.`,
    )
  })
  return [...new Set(hosts)]
}

/** An entry without a port is for 443 and 80, as addresses without one. `hosts`: undefined for no list. */
export function mayBeSentTo(hosts: readonly string[] | undefined, url: URL): boolean {
  if (hosts === undefined) return true
  const name = url.hostname.replace(/\.$/, '')
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return hosts.includes(`${name}:${port}`) || (url.port === '' && hosts.includes(name))
}

function writtenHost(entry: string): string | undefined {
  if (entry === '' || /[\s/\\@?#*%]/.test(entry)) return undefined
  const port = PORT.exec(entry)?.[1]
  const name = port === undefined ? entry : entry.slice(0, -port.length - 1)
  const url = URL.parse(`https://${name}`)
  if (url?.port !== '' || name.endsWith(':') || (port !== undefined && !isPort(port))) return undefined
  return url.hostname.replace(/\.$/, '') + (port === undefined ? '' : `:${Number(port)}`)
}

function isPort(text: string): boolean {
  return Number(text) >= 1 && Number(text) <= 65_535
}
