/** Schemas of triggers: checked requests, typed pins, and a client that is generated from the served document. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapiTypes, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/shared/json.ts'
import { installExample } from './example-fixture.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

let quoin: TestQuoin
let address: string
const open = { scopes: ['*public'] }
const blocks: JsonObject = {
  goods: { type: 'storage', fields: { storage: 'goods' } },
  create: {
    type: 'on_startup_register_uri_post',
    in: { uri: 'goods' },
    fields: {
      schema: [
        { name: 'title', type: 'text', required: true, max_length: 20 },
        { name: 'price', type: 'number', min: 0, default: 1 },
      ],
    },
    ...open,
  },
  set: { type: 'mutations_set_bp_field_multiple', in: { object: '@create.body' } },
  keep: {
    type: 'function_create_document_from_mutations',
    in: { flow: '@create.flow', storage: '@goods.storage', mutations: '@set.mutations' },
  },
  created: {
    type: 'httpconnection_set_json',
    in: { flow: '@keep.flow', code: 201, value: '@keep.document' },
  },
  list: {
    type: 'on_startup_register_uri_get',
    in: { uri: 'goods' },
    fields: { schema: [{ name: 'limit', type: 'whole number', default: 2, max: 10 }] },
    ...open,
  },
  find: {
    type: 'function_search',
    in: { flow: '@list.flow', storage: '@goods.storage', limit: '@list.limit' },
  },
  found: { type: 'httpconnection_set_json', in: { flow: '@find.flow', value: '@find.documents' } },
}

beforeAll(async () => {
  quoin = await openTestQuoin({ QUOIN_RATE_LIMIT: '0' })
  await quoin.manage('POST', '/blueprintfields', {
    name: 'title',
    type: 'string',
    required: true,
    storage: 'goods',
  })
  await quoin.install('Goods', blocks)
  address = await quoin.quoin.server.listen()
})
afterAll(() => quoin.close())

test('a bad request is 400 with every bad field, and the flow does not run', async () => {
  expect(await quoin.send('POST', '/goods', { body: { title: '', price: -1 } })).toMatchObject({
    status: 400,
    body: {
      error: 'The request is invalid: title is required and must not be empty; price must be at least 0.',
      fields: { title: 'is required and must not be empty', price: 'must be at least 0' },
    },
  })
  expect(await quoin.send('GET', '/goods?limit=many')).toMatchObject({
    status: 400,
    body: { fields: { limit: 'must be a whole number' } },
  })
  expect(await quoin.documents('goods')).toEqual([])
})

test('defaults are stored, and fields that the schema does not name', async () => {
  expect(await quoin.send('POST', '/goods', { body: { title: 'Bread', other: true } })).toMatchObject({
    status: 201,
    body: { title: 'Bread', price: 1, other: true },
  })
})

test('a flow that reads typed fields of the address is repeated from its kept reply', async () => {
  const endpoints = [...quoin.quoin.flows.live.table().blueprints.values()].flatMap(
    ({ compiled }) => compiled.endpoints,
  )
  expect(endpoints.map(({ listening, flow }) => [listening.method, flow.cacheable])).toEqual([
    ['POST', false],
    ['GET', true],
  ])
})

test.each([
  [{ schema: [{ name: 'title', type: 'telepathy' }] }, 'must have one of the types'],
  [{ schema: [{ name: 'title', type: 'text', in: 'path' }] }, 'no {title}'],
])('a schema that cannot be is refused when it is deployed: %#', async (fields, message) => {
  const bad = { on: { type: 'on_startup_register_uri_post', in: { uri: 'bad' }, fields } }
  await expect(quoin.install('Bad', bad)).rejects.toMatchObject({
    problems: [{ pin: 'schema', message: expect.stringContaining(message) }],
  })
})

test('types take the words of fields, schemas, parameters and inputs everywhere', async () => {
  const field = await quoin.manage('POST', '/blueprintfields', {
    name: 'n',
    type: 'whole number',
    storage: 'worded',
  })
  expect(objectOf(field).type).toBe('integer')
  const guid = String(objectOf(objectOf(field)._meta).guid)
  expect(await quoin.manage('PUT', `/blueprintfields/${guid}`, { type: 'text' })).toMatchObject({
    type: 'string',
  })
  await quoin.install('Worded', {
    on: {
      type: 'on_startup_register_uri_post',
      in: { uri: 'worded' },
      fields: { schema: [{ name: 'n', type: 'integer', required: true }] },
      ...open,
    },
    call: {
      type: 'function_custom_execute',
      in: { flow: '@on.flow', function: 'twice', n: '=body.n' },
      fields: { parameters: ['n'] },
    },
    reply: { type: 'httpconnection_set_json', in: { flow: '@call.flow', value: '@call.value' } },
    twice: {
      type: 'trigger_custom_function',
      out: [{ id: 'n', type: 'integer' }],
      fields: { name: 'twice' },
    },
    result: { type: 'function_return', in: { flow: '@twice.flow', value: '=twice.n * 2' } },
    page: { type: 'state_page', in: { url: 'worded' }, scopes: ['*public'] },
    form: { type: 'state_form', in: { form_id: 'f', inputs: [{ field: 'a', type: 'boolean' }] } },
    more: { type: 'state_input_dynamic', in: { state: '@form.state', field: 'b', type: 'instant' } },
    show: { type: 'state_render_page', in: { flow: '@page.flow', state: '@more.state' } },
  })
  expect(await quoin.send('POST', '/worded', { body: { n: 2 } })).toMatchObject({ status: 200, body: 4 })
  expect(await quoin.send('POST', '/worded', { body: { n: 2.5 } })).toMatchObject({ status: 400 })
  const page = await (await fetch(`${address}/worded`)).text()
  expect(page).toMatch(/type="checkbox"[^>]*name="a"/)
  expect(page).toMatch(/type="datetime-local"|datetime-local/)
})

test('the fields of a storage are a schema too', async () => {
  await quoin.manage('POST', '/blueprintfields', {
    name: 'name',
    type: 'string',
    required: true,
    storage: 'shops',
  })
  await quoin.manage('POST', '/blueprintfields', { name: 'size', type: 'number', storage: 'shops' })
  const fields = { schema_storage: 'shops' }
  await quoin.install('Shops', {
    create: { type: 'on_startup_register_uri_post', in: { uri: 'shops' }, fields, ...open },
    created: { type: 'httpconnection_set_json', in: { flow: '@create.flow', value: 'ran' } },
    change: { type: 'on_startup_register_uri_patch', in: { uri: 'shops' }, fields, ...open },
    changed: { type: 'httpconnection_set_json', in: { flow: '@change.flow', value: 'ran' } },
  })
  expect(await quoin.send('POST', '/shops', { body: { size: 'large' } })).toMatchObject({
    status: 400,
    body: { fields: { name: 'is required and must not be empty', size: 'must be a number' } },
  })
  expect(await quoin.send('PATCH', '/shops', { body: { size: 5 } })).toMatchObject({
    status: 200,
    body: 'ran',
  })
  expect(await quoin.send('PATCH', '/shops', { body: { size: 'x' } })).toMatchObject({ status: 400 })
  const { components } = objectOf(await quoin.manage('GET', '/openapi.json'))
  expect(components).toMatchObject({
    schemas: {
      PostShopsBody: {
        properties: { name: { type: 'string' }, size: { type: ['number', 'null'] } },
        required: ['name'],
      },
    },
  })
})

const use = (statement: string) => `import createClient from 'openapi-fetch'
import type { components, paths } from './written.ts'
const client = createClient<paths>({ baseUrl: ${JSON.stringify('ADDRESS')} })
${statement}
`
const creates = `const { data, error } = await client.POST('/api/v1/goods', { body: { title: 'Milk', price: 2 } })
if (error) throw new Error(error.error)
const made: components['schemas']['GoodsDocument'] = data
const title: string | undefined = made.title
const list = await client.GET('/api/v1/goods', { params: { query: { limit: 5 } } })
console.log(JSON.stringify({ title, titles: list.data?.map((one) => one.title) }))`

const createsTask = `declare const process: { readonly argv: readonly string[] }
const headers = { authorization: process.argv[2] ?? '' }
const { data, error } = await client.POST('/api/v1/tasks', { headers, body: { title: 'Write', status: 'open' } })
if (error) throw new Error(error.error)
const task: components['schemas']['TasksDocument'] = data
const title: string | undefined = task.title
const { data: read } = await client.GET('/api/v1/tasks/{guid}', { params: { path: { guid: task._meta.guid } } })
const list = await client.GET('/api/v1/tasks', { params: { query: { status: 'open' } } })
const titles = Array.isArray(list.data) ? list.data.map((one) => one.title) : []
console.log(JSON.stringify({ title, read: read?.title, titles }))`

test('openapi-fetch with strict types creates a task of the example and reads its title', async () => {
  const folder = await clientFolder()
  try {
    await installExample(quoin, 'tasks-resource', {})
    const authorization = `Bearer ${await quoin.tokenOf('admin')}`
    const reply = await fetch(`${address}/api/v1/openapi.json`, { headers: { authorization } })
    const document = await reply.text()
    await writeFile(join(folder, 'written.ts'), astToString(await openapiTypes(document)))
    const write = (name: string, text: string) =>
      writeFile(join(folder, name), use(text).replace('ADDRESS', address))
    await write('task.ts', createsTask)
    await write('no-title.ts', "await client.POST('/api/v1/tasks', { body: { status: 'open' } })")
    await write('bad-title.ts', "await client.POST('/api/v1/tasks', { body: { title: 5 } })")
    await write(
      'number-title.ts',
      "const made = await client.POST('/api/v1/tasks', { body: { title: 'a' } })\nconst title: number | undefined = made.data?.title\nconsole.log(title)",
    )
    expect(await problemsIn(folder)).toEqual(['bad-title.ts', 'no-title.ts', 'number-title.ts'])
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'task.ts'), authorization])
    expect(JSON.parse(stdout)).toEqual({ title: 'Write', read: 'Write', titles: ['Write'] })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

async function clientFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-client-'))
  await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(folder, 'node_modules'))
  return folder
}

test('a client with the types of the served document is refused what the schemas of triggers refuse', async () => {
  const folder = await clientFolder()
  try {
    const document = await (await fetch(`${address}/api/v1/openapi.json`)).text()
    const written = astToString(await openapiTypes(document))
    expect(written).toContain('PostGoodsBody: {')
    await writeFile(join(folder, 'written.ts'), written)
    const write = (name: string, text: string) =>
      writeFile(join(folder, name), text.replace('ADDRESS', address))
    await write('good.ts', use(creates))
    await write('no-title.ts', use("await client.POST('/api/v1/goods', { body: { price: 2 } })"))
    await write(
      'bad-price.ts',
      use("await client.POST('/api/v1/goods', { body: { title: 'a', price: '2' } })"),
    )
    await write(
      'bad-limit.ts',
      use("await client.GET('/api/v1/goods', { params: { query: { limit: 'x' } } })"),
    )
    await write(
      'bad-title.ts',
      use(
        "const made = await client.POST('/api/v1/goods', { body: { title: 'a' } })\nconst title: number | undefined = made.data?.title\nconsole.log(title)",
      ),
    )
    expect(await problemsIn(folder)).toEqual(['bad-limit.ts', 'bad-price.ts', 'bad-title.ts', 'no-title.ts'])
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'good.ts')])
    expect(JSON.parse(stdout)).toEqual({ title: 'Milk', titles: expect.arrayContaining(['Milk']) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const compiler = {
  strict: true,
  noEmit: true,
  module: 'esnext',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
  skipLibCheck: true,
}

/** The files that do not compile. */
async function problemsIn(folder: string): Promise<string[]> {
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: compiler, include: ['*.ts'] }),
  )
  const tsc = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'tsc')
  const output = await promisify(execFile)(tsc, ['-p', folder, '--pretty', 'false'], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: unknown) => String(objectOf(JSON.parse(JSON.stringify(error))).stdout),
  )
  return [...new Set([...output.matchAll(/^([\w-]+\.ts)\(/gm)].map(([, file = '']) => file))].sort()
}
