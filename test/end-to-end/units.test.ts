/** Many requests at once that decide by what they have read what they write: as if they came one after the other. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { quoinTemplate } from '../quoin-template.ts'
import { openTemporaryDatabase, type TemporaryDatabase } from '../temporary-database.ts'
import { type Answer, objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

const onPostgres = inject('engine') === 'postgres'
const trigger = (method: string, uri: string) => ({
  type: `on_startup_register_uri_${method}`,
  in: { uri },
  scopes: ['*public'],
})
const reply = (flow: string, value: JsonValue, status = 200) => ({
  type: 'httpconnection_set_json',
  in: { flow, value, code: status },
})
const create = (flow: string, storage: string, set: string) => ({
  type: 'function_create_document_from_mutations',
  in: { flow, storage, set },
})
const update = (flow: string, storage: string, guid: string, set: string) => ({
  type: 'function_update_document_mutations',
  in: { flow, storage, guid, set },
})

/** Creates a document with this key, if there is none. */
const claims = {
  claim: trigger('post', 'claims'),
  known: {
    type: 'function_search_single_result',
    in: { flow: '@claim.flow', storage: 'claims', where: '=doc.key == body.key' },
  },
  taken: reply('@known.flow', 'taken', 409),
  made: create('@known.not_found', 'claims', '={ key: body.key }'),
  created: reply('@made.flow', 'created', 201),
}

/** The same by a walk, which is at no one moment. */
const walked = {
  claim: trigger('post', 'walked'),
  count: {
    type: 'each',
    in: { flow: '@claim.flow', storage: 'walked', where: '=doc.key == body.key' },
  },
  is_new: { type: 'branch', in: { flow: '@count.flow', condition: '=count.count == 0' } },
  made: create('@is_new.true', 'walked', '={ key: body.key }'),
  created: reply('@made.flow', 'created', 201),
  taken: reply('@is_new.false', 'taken', 409),
}

/** Reads a number and writes the next one. */
const counting = {
  next: trigger('post', 'counters/{guid}/next'),
  counter: {
    type: 'function_get_document',
    in: { flow: '@next.flow', storage: 'counters', guid: '=params.guid' },
  },
  log: { type: 'function_console_log', in: { flow: '@counter.flow', value: '=counter.document.n' } },
  raise: update('@log.flow', 'counters', '=params.guid', '={ n: counter.document.n + 1 }'),
  done: reply('@raise.flow', '=raise.document.n'),
}

/** Leaves the shift only while another one is on it. */
const shifts = {
  leave: trigger('post', 'shifts/{guid}/leave'),
  on: { type: 'function_search', in: { flow: '@leave.flow', storage: 'shifts', where: '=doc.on == true' } },
  others: { type: 'branch', in: { flow: '@on.flow', condition: '=on.documents.length > 1' } },
  off: update('@others.true', 'shifts', '=params.guid', '={ on: false }'),
  left: reply('@off.flow', 'left'),
  stays: reply('@others.false', 'stays', 409),
}

/** Deletes a parent without children; adds a child to a parent that is there. */
const families = {
  remove: trigger('delete', 'parents/{guid}'),
  child: {
    type: 'function_search_single_result',
    in: { flow: '@remove.flow', storage: 'children', where: '=doc.parent == params.guid' },
  },
  kept: reply('@child.flow', 'has children', 409),
  gone: {
    type: 'function_delete_document',
    in: { flow: '@child.not_found', storage: 'parents', guid: '=params.guid' },
  },
  deleted: reply('@gone.flow', 'deleted'),
  add: trigger('post', 'parents/{guid}/children'),
  parent: {
    type: 'function_get_document',
    in: { flow: '@add.flow', storage: 'parents', guid: '=params.guid' },
  },
  born: create('@parent.flow', 'children', '={ parent: params.guid }'),
  added: reply('@born.flow', 'added', 201),
}

describe(onPostgres ? 'two nodes' : 'one node', () => {
  let temporary: TemporaryDatabase | undefined
  let nodes: readonly TestQuoin[] = []

  beforeAll(async () => {
    temporary = onPostgres ? await openTemporaryDatabase(quoinTemplate) : undefined
    const on = temporary ? { DATABASE_URL: temporary.url } : {}
    const settings = { QUOIN_RATE_LIMIT: '0', ...on }
    nodes = [await openTestQuoin({ ...settings, QUOIN_NODE: 'one' })]
    if (onPostgres) nodes = [...nodes, await openTestQuoin({ ...settings, QUOIN_NODE: 'two' })]
    for (const [name, blocks] of Object.entries({ claims, walked, counting, shifts, families }))
      await node(0).install(name, blocks)
  })
  afterAll(async () => {
    for (const one of nodes) await one.close()
    await temporary?.drop()
  })

  const node = (number: number): TestQuoin => {
    const one = nodes[number % nodes.length]
    if (!one) throw new Error('No node is open.')
    return one
  }
  /** All at once, in turns to the nodes. */
  const storm = (
    count: number,
    send: (to: TestQuoin, number: number) => Promise<Answer>,
  ): Promise<Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, number) => send(node(number), number)))
  const statuses = (answers: readonly Answer[]) =>
    Object.fromEntries(
      [...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]),
    )
  const stored = async (storage: string, body: JsonObject): Promise<string> => {
    const session = node(0).quoin.database.session()
    const made = await session.create(
      storage,
      Object.entries(body).map(([field, value]) => ({ op: 'set', field, value })),
    )
    await session.transaction.commit()
    return String(objectOf(objectOf(made.value)._meta).guid)
  }
  const post = (to: TestQuoin, path: string, body: JsonValue = {}) => to.send('POST', path, { body })

  test('of 50 that create the same key one does', async () => {
    const answers = await storm(50, (to) => post(to, '/claims', { key: 'same' }))
    expect(statuses(answers)).toEqual({ 201: 1, 409: 49 })
    expect(await node(0).documents('claims')).toHaveLength(1)
  })

  test('of 25 clients that create 200 different keys none starves', async () => {
    const client = async (to: TestQuoin, number: number): Promise<number[]> => {
      const ends: number[] = []
      for (let turn = 0; turn < 8; turn++)
        ends.push((await post(to, '/claims', { key: `key ${number} ${turn}` })).status)
      return ends
    }
    const ends = await Promise.all(Array.from({ length: 25 }, (_, number) => client(node(number), number)))
    expect(ends.flat().filter((status) => status !== 201)).toEqual([])
  })

  test('control: a check that is no unit lets some through twice', async () => {
    const answers = await storm(50, (to) => post(to, '/walked', { key: 'same' }))
    expect(statuses(answers)[201]).toBeGreaterThan(1)
  })

  test('30 that read a number and write the next one count to 30, and what is tried again leaves no entry in the log', async () => {
    const guid = await stored('counters', { n: 0 })
    const answers = await storm(30, (to) => post(to, `/counters/${guid}/next`))
    expect(answers.map(({ body }) => Number(body)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, number) => number + 1),
    )
    // Each node stores its own entries first; the last one then reads all.
    let logged: JsonObject[] = []
    for (const one of nodes) logged = await one.systemLog()
    const values = logged.filter(({ blueprint }) => blueprint !== undefined).map(({ value }) => Number(value))
    expect(values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, number) => number),
    )
  })

  test('of two on a shift one stays, whatever both see', async () => {
    for (let round = 0; round < 10; round++) {
      const guids = [await stored('shifts', { on: true }), await stored('shifts', { on: true })]
      const answers = await storm(2, (to, number) => post(to, `/shifts/${guids[number]}/leave`))
      expect(statuses(answers)).toEqual({ 200: 1, 409: 1 })
      const session = node(0).quoin.database.session()
      for (const guid of guids) await session.delete('shifts', guid)
      await session.transaction.commit()
    }
  })

  test('no child is left without its parent', async () => {
    for (let round = 0; round < 10; round++) {
      const guid = await stored('parents', {})
      const answers = await storm(6, (to, number) =>
        number % 3 === 0 ? to.send('DELETE', `/parents/${guid}`) : post(to, `/parents/${guid}/children`),
      )
      expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
      const parents = (await node(0).documents('parents')).map(({ _meta }) => objectOf(_meta).guid)
      const orphans = (await node(0).documents('children')).filter(
        ({ parent }) => !parents.includes(String(parent)),
      )
      expect(orphans).toEqual([])
    }
  })
})
