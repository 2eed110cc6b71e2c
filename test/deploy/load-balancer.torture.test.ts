/** The settings of deploy/ in a real HAProxy, before two servers that can be frozen. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LocalServer, startLocalServer } from '../local-server.ts'
import { freePort } from '../postgres/postgres-server.ts'
import { balancerSettings } from './balancer-settings.ts'

const isHere = spawnSync('haproxy', ['-v']).status === 0

describe.skipIf(!isHere)('the load balancer (HAProxy is not installed)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quoin-balancer-'))
  const frozen = new Set<string>()
  const nodes: LocalServer[] = []
  let haproxy: ChildProcess
  let address: string

  beforeAll(async () => {
    for (const name of ['a', 'b'])
      nodes.push(
        await startLocalServer((_request, response) => {
          if (!frozen.has(name)) response.end(name)
        }),
      )
    const port = await freePort()
    address = `http://127.0.0.1:${port}`
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, settingsFor(port, nodes))
    execFileSync('haproxy', ['-c', '-f', file])
    haproxy = spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' })
  })
  afterAll(async () => {
    haproxy.kill('SIGKILL')
    await once(haproxy, 'exit')
    for (const node of nodes) await node.close()
    rmSync(folder, { recursive: true })
  })

  /** There is no container network here: other names, and no resolver for them. */
  function settingsFor(port: number, [a, b]: readonly LocalServer[]): string {
    return balancerSettings('compose.yaml')
      .replace('bind :8080', `bind 127.0.0.1:${port}`)
      .replace('a:8080', `127.0.0.1:${a?.port}`)
      .replace('b:8080', `127.0.0.1:${b?.port}`)
      .replace(/^ *server c .*\n/m, '')
      .replace(/^resolvers .*\n.*\n/m, '')
      .replace(' resolvers docker init-addr last,libc,none', '')
  }

  test('the settings of compose-cores.yaml are accepted', () => {
    const file = join(folder, 'cores.cfg')
    writeFileSync(file, balancerSettings('compose-cores.yaml'))
    execFileSync('haproxy', ['-c', '-f', file])
  })

  const get = () => fetch(address).catch(() => undefined)
  const answers = async () => new Set([await (await get())?.text(), await (await get())?.text()])

  test('a client that waits for a frozen node is let go when the node is found to be down', async () => {
    await expect.poll(answers, { timeout: 10_000 }).toEqual(new Set(['a', 'b']))
    frozen.add('a')
    // One of the two meets it. Whether its request was done is not known.
    const replies = await Promise.all([get(), get()])
    const [good, other] = replies
      .map((reply) => reply?.status ?? 0)
      .toSorted((x, y) => Math.abs(x - 200) - Math.abs(y - 200))
    expect(good).toBe(200)
    // 0: its connection was closed.
    expect([0, 502]).toContain(other)
    await expect.poll(answers, { timeout: 10_000 }).toEqual(new Set(['b']))
  }, 30_000)

  test('with no node left it answers at once, and says when to try again', async () => {
    frozen.add('b')
    await expect.poll(async () => (await get())?.status, { timeout: 10_000 }).toBe(503)
    const refused = await get()
    expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused?.json()).toMatchObject({ error: 'UNAVAILABLE' })
  }, 30_000)
})
