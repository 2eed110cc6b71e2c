/**
 * A wire that is long: what goes through it arrives later, in the same order.
 *
 *   node bench/delaying-proxy.ts <port> <milliseconds>      there and back; prints where it listens
 */
import { connect, createServer, type Socket } from 'node:net'

const [port, milliseconds] = process.argv.slice(2).map(Number)
if (port === undefined || milliseconds === undefined)
  throw new Error('Say to where and how long: node bench/delaying-proxy.ts <port> <milliseconds>')
const way = milliseconds / 2

const server = createServer((near) => {
  const far = connect(port, '127.0.0.1')
  for (const end of [near, far]) {
    end.setNoDelay(true)
    end.on('error', () => undefined)
    end.on('close', () => {
      near.destroy()
      far.destroy()
    })
  }
  pass(near, far)
  pass(far, near)
})

function pass(from: Socket, to: Socket): void {
  from.on('data', (bytes) => setTimeout(() => to.write(bytes), way))
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address) console.log(`listening http://127.0.0.1:${address.port}`)
})
process.once('SIGTERM', () => process.exit())
