/** The two proxies on their own: what they pass on, and what a client sees when something behind them breaks. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { startLocalServer } from '../local-server.ts'
import { openCutProxy } from './cut-proxy.ts'
import { openRoundRobinProxy } from './round-robin-proxy.ts'

const releases: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

async function nodeNamed(name: string, asked: string[]) {
  const server = await startLocalServer((request, response) => {
    asked.push(name)
    if (request.url === '/break') return void request.socket.destroy()
    response.writeHead(201, { 'x-node': name })
    request.pipe(response)
  })
  releases.push(() => server.close())
  return server
}

async function proxyFor(...addresses: string[]) {
  const proxy = await openRoundRobinProxy(() => addresses)
  releases.push(() => proxy.close())
  return proxy
}

test('requests go round, with status, headers and body', async () => {
  const asked: string[] = []
  const nodes = [await nodeNamed('a', asked), await nodeNamed('b', asked), await nodeNamed('c', asked)]
  const proxy = await proxyFor(...nodes.map(({ url }) => url))
  for (const name of ['a', 'b', 'c', 'a']) {
    const reply = await fetch(proxy.address, { method: 'POST', body: `to ${name}` })
    expect([reply.status, reply.headers.get('x-node'), await reply.text()]).toEqual([201, name, `to ${name}`])
  }
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
})

test('a node that refuses is passed over, and the request reaches the next one whole', async () => {
  const asked: string[] = []
  const [gone, there] = [await nodeNamed('gone', asked), await nodeNamed('there', asked)]
  const proxy = await proxyFor(gone.url, there.url)
  await gone.close()
  for (let times = 0; times < 4; times++) {
    const reply = await fetch(proxy.address, { method: 'POST', body: 'whole' })
    expect([reply.status, await reply.text()]).toEqual([201, 'whole'])
  }
  expect(asked).toEqual(['there', 'there', 'there', 'there'])
})

test('a connection lost after the request was sent is 503, and no other node is asked', async () => {
  const asked: string[] = []
  const nodes = [await nodeNamed('a', asked), await nodeNamed('b', asked)]
  const proxy = await proxyFor(...nodes.map(({ url }) => url))
  const reply = await fetch(`${proxy.address}/break`, { method: 'POST', body: 'x' })
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
  expect(asked).toEqual(['a'])
  expect(proxy.counts).toEqual({ lost: 1, refused: 0 })
})

test('without any node it is 503', async () => {
  const gone = await nodeNamed('gone', [])
  const proxy = await proxyFor(gone.url)
  await gone.close()
  const reply = await fetch(proxy.address)
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '1'])
  expect(proxy.counts).toEqual({ lost: 0, refused: 1 })
})

async function echo() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    socket.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  const proxy = await openCutProxy(address.port)
  releases.push(async () => {
    await proxy.close()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return proxy
}

async function joined(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  releases.push(async () => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

async function said(socket: Socket, text: string): Promise<string> {
  const heard = once(socket, 'data')
  socket.write(text)
  return String((await heard)[0])
}

test('a whole wire passes everything on; a reset one ends connections and refuses others until it is mended', async () => {
  const proxy = await echo()
  const before = await joined(proxy.port)
  expect(await said(before, 'one')).toBe('one')
  const broken = once(before, 'error')
  await proxy.cut('reset')
  expect(String((await broken)[0])).toContain('ECONNRESET')
  await expect(joined(proxy.port)).rejects.toThrow('ECONNREFUSED')
  await proxy.mend()
  expect(await said(await joined(proxy.port), 'two')).toBe('two')
})

test('a hanging wire reports nothing, and brings what was sent when it is mended', async () => {
  const proxy = await echo()
  const before = await joined(proxy.port)
  expect(await said(before, 'one')).toBe('one')
  await proxy.cut('hang')
  const during = await joined(proxy.port)
  const heard: string[] = []
  for (const socket of [before, during])
    socket.on('data', (bytes) => heard.push(String(bytes))).on('error', (error) => heard.push(String(error)))
  const [late, later] = [once(before, 'data'), once(during, 'data')]
  before.write('two')
  during.write('three')
  await wait(100)
  expect(heard).toEqual([])
  await proxy.mend()
  await Promise.all([late, later])
  expect(heard.sort()).toEqual(['three', 'two'])
})
