/** What Node itself costs: a server that sends one reply with the headers that Quoin sends, whatever it is asked. Prints where it listens. */
import { hash } from 'node:crypto'
import { createServer } from 'node:http'

const body = JSON.stringify({
  service: 'bench',
  ready: true,
  version: 3,
  regions: ['north', 'south'],
  limits: { page: 20, body: 1_048_576 },
})
const headers = {
  'content-type': 'application/json; charset=utf-8',
  'content-length': Buffer.byteLength(body),
  'content-security-policy': 'sandbox',
  'x-content-type-options': 'nosniff',
}

let requests = 0
const server = createServer((_request, response) => {
  const own = { etag: `"${hash('sha1', body, 'base64url')}"`, 'x-request-id': `bare-${++requests}` }
  response.writeHead(200, { ...headers, ...own })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  console.log(`http://127.0.0.1:${address.port}`)
})
