/** Two nodes: what one traces, another one shows, and a client need not know the node of a run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { objectOf, objectsOf, openTestQuoin, type TestQuoin } from './harness.ts'
import { soon } from './tracing-fixture.ts'

const blocks = {
  get: { type: 'on_startup_register_uri_get', in: { uri: 'here' }, scopes: ['*public'] },
  reply: { type: 'httpconnection_set_json', in: { flow: '@get.flow', value: 'here' } },
}

describe('two nodes', () => {
  let temporary: TemporaryDatabase
  let one: TestQuoin
  let two: TestQuoin
  let blueprint: string
  let reply: string

  beforeAll(async () => {
    temporary = await openTemporaryDatabase(quoinTemplate)
    one = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'one' })
    two = await openTestQuoin({ DATABASE_URL: temporary.url, QUOIN_NODE: 'two' })
    blueprint = await one.install('Here', blocks)
    const all = objectsOf(await one.manage('GET', `/blueprints/${blueprint}/blocks`))
    const [found] = all.filter(({ type }) => type === 'httpconnection_set_json')
    reply = String(objectOf(found?._meta).guid)
  })
  afterAll(async () => {
    await one?.close()
    await two?.close()
    await temporary?.drop()
  })

  const trace = (node: TestQuoin, body: { on: boolean; breakpoints?: string[] }) =>
    node.manage('PUT', `/blueprints/${blueprint}/tracing`, body)
  const pausedOn = (node: TestQuoin) =>
    soon(async () => objectsOf(await node.manage('GET', `/runs/paused?blueprint=${blueprint}`))[0])

  test('what is turned on at one holds on the other when that is answered, and so does turning off', async () => {
    await trace(one, { on: true, breakpoints: [] })
    await two.send('GET', '/here')
    const seen = await soon(async () => objectsOf(await one.manage('GET', '/runs'))[0])
    expect(seen).toMatchObject({ blueprint, status: 'ended' })
    await trace(two, { on: false })
    await one.send('GET', '/here')
    expect(objectsOf(await one.manage('GET', '/runs'))).toHaveLength(1)
  })

  test('a run that is paused on one is seen, told and steered from the other', async () => {
    await trace(one, { on: true, breakpoints: [reply] })
    const reported: string[] = []
    const address = await one.quoin.server.listen()
    const abort = new AbortController()
    const stream = await fetch(`${address}/api/v1/runs/stream`, {
      headers: { authorization: `Bearer ${await one.tokenOf('admin')}` },
      signal: abort.signal,
    })
    const reading = (async () => {
      for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? [])
        for (const [, status] of chunk.matchAll(/"status":"(\w+)","started"/g)) reported.push(String(status))
    })().catch(() => undefined)
    for (const [how, status] of [
      ['resume', 200],
      ['stop', 409],
    ] as const) {
      const answer = two.send('GET', '/here')
      const { run } = await pausedOn(one)
      await one.manage('POST', `/runs/${String(run)}/${how}`)
      expect((await answer).status).toBe(status)
      await soon(async () => {
        const { status: now } = objectOf(await one.manage('GET', `/runs/${String(run)}`))
        return now === 'paused' ? undefined : now
      })
    }
    await soon(async () => (reported.length >= 4 ? reported : undefined))
    expect(reported).toEqual(['paused', 'ended', 'paused', 'failed'])
    abort.abort()
    await reading
  })

  test('what a node left behind is failed, and does not stay paused', async () => {
    await trace(one, { on: true, breakpoints: [reply] })
    // A node that is none any more.
    const { database } = one.quoin
    const answer = two.send('GET', '/here')
    const { run } = await pausedOn(one)
    const guid = String(run)
    const session = database.session()
    await session.update('_runs', guid, [{ op: 'set', field: 'node', value: 'gone' }])
    await session.transaction.commit()
    expect(objectsOf(await one.manage('GET', `/runs/paused?blueprint=${blueprint}`))).toEqual([])
    const [lost] = objectsOf(await one.manage('GET', '/runs?status=failed'))
    expect(lost).toMatchObject({ guid, error: { message: expect.stringContaining('node ended') } })
    await trace(two, { on: false })
    expect((await answer).status).toBe(200)
  })
})
