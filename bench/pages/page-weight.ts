/** What a page loads besides itself, in bytes on the wire. */
import { get } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

export interface PageWeight {
  readonly files: number
  /** Of style and script together, as the server sends them to a browser that takes brotli. */
  readonly compressed: number
  readonly gzip: number
  readonly plain: number
}

export async function weighPage(address: string): Promise<PageWeight> {
  const html = (await load(address, 'identity')).toString()
  const names = [...html.matchAll(/(?:href|src)="(\/_pages\/[^"]+\.(?:css|js))"/g)].map(([, name]) => name)
  const weight = { files: 0, compressed: 0, gzip: 0, plain: 0 }
  for (const name of new Set(names)) {
    const file = new URL(name ?? '', address).href
    const [br, zipped, plain] = [
      await load(file, 'br'),
      await load(file, 'gzip'),
      await load(file, 'identity'),
    ]
    // What is not what it says would make the page look light.
    if (!brotliDecompressSync(br).equals(plain) || !gunzipSync(zipped).equals(plain))
      throw new Error(`${file} is another file when it is compressed.`)
    weight.files += 1
    weight.compressed += br.length
    weight.gzip += zipped.length
    weight.plain += plain.length
  }
  if (weight.files < 2) throw new Error(`${address} loads neither style nor script.`)
  return weight
}

/** Of the page of the sign-in form and what it loads before it is shown, as the server sends them to a browser that takes brotli. */
export async function signInBytes(address: string): Promise<number> {
  const html = await load(address, 'identity')
  const names = [...html.toString().matchAll(/(?:href|src)="(\/studio\/assets\/[^"]+\.(?:css|js))"/g)]
  if (names.length < 2) throw new Error(`${address} loads neither style nor script.`)
  let bytes = html.length
  for (const [, name = ''] of names) bytes += (await load(new URL(name, address).href, 'br')).length
  return bytes
}

/** The body as it comes, not unpacked. */
function load(address: string, encoding: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  get(address, { headers: { accept: '*/*', 'accept-encoding': encoding } }, (reply) => {
    const pieces: Buffer[] = []
    reply.on('data', (piece: Buffer) => pieces.push(piece))
    reply.once('error', reject)
    reply.once('end', () => {
      if (reply.statusCode === 200) resolve(Buffer.concat(pieces))
      else reject(new Error(`${address} was answered with ${reply.statusCode}.`))
    })
  }).once('error', reject)
  return promise
}
