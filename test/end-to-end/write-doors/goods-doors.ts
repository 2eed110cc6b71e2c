import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { xlsxFile } from '../../../src/blocks/rows/xlsx-file.ts'
import { CSV, NDJSON, XLSX } from '../../../src/shared/files/file-types.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts'
import { setFields } from '../../../src/shared/mutation.ts'
import { search } from '../../../src/shared/query.ts'
import { openVisitor } from '../../page-visitor.ts'
import { quoinCommand } from '../../recording-terminal.ts'
import { guidOf, objectOf, objectsOf, type TestQuoin } from '../harness.ts'
import type { Refusal, Write, WriteDoor } from './write-door.ts'

const path = '/_system/storages/goods/documents'
const storage = 'goods'
const open = { scopes: ['*public'] }
const post = (uri: string) => ({ type: 'on_startup_register_uri_post', in: { uri }, ...open })
const reply = (flow: string) => ({ type: 'httpconnection_set_json', in: { flow, value: 'written' } })
const page = (url: string) => ({ type: 'state_page', in: { url }, ...open })
const inputs = ['title', 'code', 'price', 'count', 'parts', 'mail', 'ready', 'supplier', 'place', 'shelf']

/** A flow at `/name` with one block that writes. */
const flow = (name: string, type: string, input: JsonObject): JsonObject => ({
  [name]: post(name),
  [`${name}_write`]: { type, in: { flow: `@${name}.flow`, storage, ...input } },
  [`${name}_reply`]: reply(`@${name}_write.flow`),
})

export const goodsBlocks: JsonObject = {
  goods: { type: 'on_startup_register_resource', in: { uri: 'goods', storage }, ...open },
  ...flow('create', 'function_create_document_from_mutations', { set: '=body' }),
  ...flow('change', 'function_update_document_mutations', { guid: '=query.guid', set: '=body' }),
  ...flow('upsert', 'function_upsert_document', { by: ['key'], set: '=body' }),
  ...flow('rows', 'store_rows', { rows: '=[body]' }),
  ...flow('many', 'function_update_many', { where: '=doc._meta.guid == query.guid', set: '=body' }),
  ...flow('many_later', 'function_update_many', {
    ...{ where: '=doc._meta.guid == query.guid', set: '=body', in_background: true },
  }),
  many_later_reply: {
    type: 'httpconnection_set_json',
    in: { flow: '@many_later_write.flow', value: '=many_later_write.job' },
  },
  ...flow('restore', 'function_restore_many', { where: '=doc._meta.guid == query.guid' }),
  later: post('later'),
  defer: {
    type: 'function_custom_execute_from_queue',
    in: { flow: '@later.flow', function: 'write', queue: 'goods', attempts: 1, fields: '=body' },
    fields: { parameters: ['fields'] },
  },
  deferred: reply('@defer.flow'),
  write: {
    type: 'trigger_custom_function',
    out: [{ id: 'fields', type: 'object' }],
    fields: { name: 'write' },
  },
  keep: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@write.flow', storage, set: '=write.fields' },
  },
  new_page: page('goods'),
  new_form: { type: 'state_form', in: { form_id: 'goods', storage, inputs } },
  new_show: { type: 'state_render_page', in: { flow: '@new_page.flow', state: '@new_form.state' } },
  new_made: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@new_form.submit', storage, set: '=new_form.values' },
  },
  one_page: page('goods/{guid}'),
  one_read: { type: 'function_get_document', in: { flow: '@one_page.flow', storage, guid: '=params.guid' } },
  one_form: { type: 'state_form', in: { form_id: 'goods', storage, document: '=one_read.document', inputs } },
  one_show: { type: 'state_render_page', in: { flow: '@one_read.flow', state: '@one_form.state' } },
  one_made: {
    type: 'function_update_document_mutations',
    in: { flow: '@one_form.submit', storage, guid: '=params.guid', set: '=one_form.values' },
  },
}

export interface GoodsFixture {
  readonly quoin: TestQuoin
  readonly origin: string
  /** Guid of the document that is changed. */
  guid(): string
}

export function writeDoors(fixture: GoodsFixture): Readonly<Record<WriteDoor, Write>> {
  return { ...creates(fixture), ...changes(fixture), ...restores(fixture) }
}

const base: JsonObject = { title: 'New', key: 'new' }

async function sent(
  { quoin }: GoodsFixture,
  method: 'POST' | 'PUT',
  address: string,
  body?: JsonValue,
): Promise<Refusal> {
  const answer = await quoin.send(method, address, { as: 'admin', ...(body !== undefined && { body }) })
  const { fields } = isJsonObject(answer.body) ? answer.body : {}
  const text = isJsonObject(answer.body) ? JSON.stringify(answer.body) : answer.text
  // The management API lists them; custom endpoints say what is wrong with each.
  const named = isJsonObject(fields) ? Object.keys(fields) : fields
  return { status: answer.status, text, ...(Array.isArray(named) && { fields: named.map(String) }) }
}

function creates(fixture: GoodsFixture) {
  const { quoin } = fixture
  const load = async (type: string, payload: string | Buffer): Promise<Refusal> => {
    const headers = { authorization: `Bearer ${await quoin.tokenOf('admin')}`, 'content-type': type }
    const url = `/api/v1${path}/import`
    const answer = await quoin.quoin.server.app.inject({ method: 'POST', url, headers, payload })
    return { status: answer.statusCode, text: answer.body, fields: answer.json().fields }
  }
  const table = (fields: JsonObject) => {
    const row = { ...base, ...fields }
    return [
      Object.keys(row),
      Object.values(row).map((value) => (value === null ? '' : String(value))),
    ] as const
  }
  const csv = (fields: JsonObject) =>
    table(fields)
      .map((cells) => cells.join(','))
      .join('\n')
  return {
    'documents API, create': (fields) => sent(fixture, 'POST', path, { ...base, ...fields }),
    'resource, create': (fields) => sent(fixture, 'POST', '/goods', { ...base, ...fields }),
    'block, create': (fields) => sent(fixture, 'POST', '/create', { ...base, ...fields }),
    'block, upsert of a new one': (fields) => sent(fixture, 'POST', '/upsert', { ...base, ...fields }),
    'block, store rows': (fields) => sent(fixture, 'POST', '/rows', { ...base, ...fields }),
    'form of a page, create': (fields) => submitted(fixture, '/goods', { title: 'New', ...fields }),
    'import, NDJSON': (fields) => load(NDJSON, JSON.stringify({ ...base, ...fields })),
    'import, CSV': (fields) => load(CSV, csv(fields)),
    'import, XLSX': async (fields) =>
      load(XLSX, await buffer(Readable.from(xlsxFile(Readable.from(table(fields)))))),
    'quoin rows import': async (fields) => {
      const file = join(quoin.directory, 'goods.csv')
      await writeFile(file, csv(fields))
      const environment = { QUOIN_TOKEN: await quoin.tokenOf('admin') }
      const { code, complained, printed } = await quoinCommand(
        ['rows', 'import', storage, file, '--url', fixture.origin],
        environment,
      )
      expect(code).not.toBe(0)
      return { text: `${printed}\n${complained}` }
    },
    'job of a function': async (fields) => {
      const dead = () =>
        quoin.manage('POST', '/queue/search', { filters: { queue: 'goods', status: 'dead' }, limit: 100 })
      const before = objectsOf(await dead()).length
      expect((await sent(fixture, 'POST', '/later', { ...base, ...fields })).status).toBe(200)
      const failed = async () => objectsOf(await dead())
      await expect
        .poll(async () => (await failed()).length, { timeout: 60_000, interval: 20 })
        .toBe(before + 1)
      return { text: (await failed()).map(({ error }) => String(error)).join('\n') }
    },
  } as const satisfies Partial<Record<WriteDoor, Write>>
}

function changes(fixture: GoodsFixture) {
  const named = (address: string) => `${address}?guid=${fixture.guid()}`
  const many = (more: JsonObject) => (fields: JsonObject) =>
    sent(fixture, 'POST', `${path}/update-many`, { guids: [fixture.guid()], set: fields, ...more })
  return {
    'documents API, change': (fields) => sent(fixture, 'PUT', `${path}/${fixture.guid()}`, fields),
    'resource, change': (fields) => sent(fixture, 'PUT', `/goods/${fixture.guid()}`, fields),
    'block, change': (fields) => sent(fixture, 'POST', named('/change'), fields),
    'block, upsert of one': (fields) => sent(fixture, 'POST', '/upsert', { key: 'second', ...fields }),
    'form of a page, change': (fields) => submitted(fixture, `/goods/${fixture.guid()}`, fields),
    'update-many': many({}),
    'update-many in a job': async (fields) =>
      ofJob(fixture, (await many({ in_background: true })(fields)).text),
    'block, update many': (fields) => sent(fixture, 'POST', named('/many'), fields),
    'block, update many in a job': async (fields) =>
      ofJob(
        fixture,
        JSON.stringify({
          job: (await fixture.quoin.send('POST', named('/many_later'), { body: fields })).body ?? null,
        }),
      ),
    'put-back': async (fields) => {
      const guid = fixture.guid()
      const from = objectOf(await fixture.quoin.manage('GET', `${path}/${guid}`))
      return leftBy(fixture, { changes: [{ guid, from, to: fields }] })
    },
  } as const satisfies Partial<Record<WriteDoor, Write>>
}

function restores(fixture: GoodsFixture) {
  /** Removed while its values were free, or what it refers to was there. */
  const removed = async (fields: JsonObject): Promise<string> => {
    const session = fixture.quoin.quoin.database.session()
    const { supplier, ...own } = fields
    const maker = supplier === undefined ? undefined : guidOf((await session.create('suppliers', [])).value)
    const free = Object.fromEntries(Object.keys(own).map((name) => [name, null]))
    const all = await session.find(storage, search({ limit: 10 }))
    const holders = objectsOf(all.documents.value).filter(({ key }) => key === 'first')
    for (const holder of holders) await session.update(storage, guidOf(holder), setFields(free))
    const input = { ...base, ...own, ...(maker && { supplier: maker }) }
    const guid = guidOf((await session.create(storage, setFields(input))).value)
    await session.setRemoved(storage, guid, true)
    if (maker) await session.setRemoved('suppliers', maker, true)
    for (const holder of holders) {
      const values = Object.keys(own).map((name) => [name, holder[name] ?? null])
      await session.update(storage, guidOf(holder), setFields(Object.fromEntries(values)))
    }
    await session.transaction.commit()
    return guid
  }
  return {
    restore: async (fields) => sent(fixture, 'POST', `${path}/${await removed(fields)}/restore`),
    'restore-many': async (fields) =>
      sent(fixture, 'POST', `${path}/restore-many`, { guids: [await removed(fields)] }),
    'restore-many in a job': async (fields) => {
      const body = { guids: [await removed(fields)], in_background: true }
      return ofJob(fixture, (await sent(fixture, 'POST', `${path}/restore-many`, body)).text)
    },
    'block, restore many': async (fields) =>
      sent(fixture, 'POST', `/restore?guid=${await removed(fields)}`, {}),
    'put-back of a removed one': async (fields) => leftBy(fixture, { restore: [await removed(fields)] }),
  } as const satisfies Partial<Record<WriteDoor, Write>>
}

/** What the reply says of the one document that stays as it is. */
async function leftBy(fixture: GoodsFixture, body: JsonObject): Promise<Refusal> {
  const reply = objectOf((await fixture.quoin.send('POST', `${path}/put-back`, { as: 'admin', body })).body)
  if (reply.left === undefined) return { text: JSON.stringify(reply) }
  const [left = {}] = objectsOf(reply.left)
  return {
    text: String(left.message ?? ''),
    ...(Array.isArray(left.fields) && { fields: left.fields.map(String) }),
  }
}

/** What the record of a job says of the document that it left out. */
async function ofJob({ quoin }: GoodsFixture, text: string): Promise<Refusal> {
  const { job } = objectOf(JSON.parse(text))
  const progress = async () => objectOf((await quoin.send('GET', `/queue/${job}`, { as: 'admin' })).body)
  await expect
    .poll(async () => objectOf((await progress()).progress ?? {}).finished, { timeout: 60_000, interval: 20 })
    .toBe(true)
  return { text: JSON.stringify(await progress()) }
}

async function submitted(
  { quoin, origin }: GoodsFixture,
  address: string,
  fields: JsonObject,
): Promise<Refusal> {
  const visitor = openVisitor(origin)
  visitor.setCookie('access_token', await quoin.tokenOf('admin'))
  const values = Object.entries(fields).map(([name, value]) => [name, value === null ? '' : String(value)])
  const { status, html } = await visitor.submit(
    await visitor.get(address),
    'goods',
    Object.fromEntries(values),
  )
  const named = [...html.matchAll(/href="#goods-([a-z_]+)"/g)].map(([, name = '']) => name)
  return { status, text: html, ...(named.length > 0 && { fields: named }) }
}
