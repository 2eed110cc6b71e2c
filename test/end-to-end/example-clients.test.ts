/** The OpenAPI document says what the endpoints of the examples reply, and a client that is generated from it knows. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapiTypes, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts'
import { installExamples } from './example-fixture.ts'
import { objectOf, openTestQuoin, type TestQuoin } from './harness.ts'

interface Operation {
  readonly method: string
  readonly path: string
  readonly about: JsonObject
}

let quoin: TestQuoin
let document: JsonObject
let operations: readonly Operation[]
const folders: string[] = []

beforeAll(async () => {
  quoin = await openTestQuoin({
    QUOIN_RATE_LIMIT: '0',
    QUOIN_SECRETS_KEY: '0f'.repeat(32),
    QUOIN_PUBLIC_URL: 'https://examples.example.com',
  })
  const names = await installExamples(quoin)
  document = objectOf(await quoin.manage('GET', '/openapi.json'))
  operations = Object.entries(objectOf(document.paths)).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).flatMap(([method, about]) => {
      const operation = { method: method.toUpperCase(), path, about: objectOf(about) }
      return names.includes(String(listOf(operation.about.tags)[0])) ? [operation] : []
    }),
  )
})
afterAll(async () => {
  await quoin.close()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

/** The paths of parts of a schema that say nothing, or that only null fits. */
function emptyParts(value: JsonValue, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one, at) => emptyParts(one, `${path}.${at}`))
  if (!isJsonObject(value)) return []
  const keys = Object.keys(value)
  const isSchema = !path.endsWith('.properties')
  if (isSchema && (keys.length === 0 || (keys.length === 1 && value.type === 'null'))) return [path]
  return keys.flatMap((key) => emptyParts(value[key] ?? null, `${path}.${key}`))
}

const flowReplies = ({ about }: Operation) =>
  Object.entries(objectOf(about.responses)).filter(
    ([, reply]) => objectOf(reply).description === 'What the flow replies.',
  )

test('each reply of an example has a type, down to its last field', () => {
  expect(operations.length).toBeGreaterThan(25)
  const empty = operations.flatMap((operation) =>
    flowReplies(operation).flatMap(([status, reply]) =>
      emptyParts(objectOf(reply).content ?? null, `${operation.method} ${operation.path} ${status}`),
    ),
  )
  expect(empty).toEqual([])
})

test('what a flow calculates from documents has the types of their fields', () => {
  const schemaOf = (path: string) => {
    const { about } = operations.find((one) => one.path === path && one.method === 'GET') ?? {}
    const [, reply] = about ? (flowReplies({ method: '', path, about })[0] ?? []) : []
    return objectOf(objectOf(objectOf(objectOf(reply ?? null).content)['application/json']).schema)
  }
  expect(schemaOf('/api/v1/board').properties).toEqual({
    todo: { type: 'array', items: { type: 'string' } },
    doing: { type: 'array', items: { type: 'string' } },
    done: { type: 'array', items: { type: 'string' } },
  })
  expect(schemaOf('/api/v1/stock-value').properties).toEqual({
    total: { type: 'number' },
    suppliers: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          supplier: { type: 'string' },
          name: { type: 'string' },
          value: { type: 'number' },
        },
      },
    },
  })
  const goods = objectOf(schemaOf('/api/v1/goods').items)
  expect(goods.properties).toMatchObject({
    price: { type: 'number' },
    min_stock: { type: ['integer', 'null'] },
    supplier_name: { type: 'string' },
  })
})

/** Something that fits a schema, for a call. */
function sampleOf(schema: JsonObject): JsonValue {
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return sampleOf(objectOf(objectOf(objectOf(document.components).schemas)[name]))
  }
  const [choice] = listOf(schema.enum)
  if (choice !== undefined) return choice
  const [type] = [schema.type ?? 'string'].flat()
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return true
  if (type === 'array') return []
  if (type !== 'object') return 'x'
  const required = listOf(schema.required).map(String)
  return Object.fromEntries(
    required.map((name) => [name, sampleOf(objectOf(objectOf(schema.properties)[name]))]),
  )
}

/** A call of an endpoint as a client writes it, whose reply must have a type. */
function callOf({ method, path, about }: Operation, at: number): string {
  const needed = listOf(about.parameters)
    .map(objectOf)
    .filter(({ required }) => required === true)
  const params: Record<string, Record<string, JsonValue>> = {}
  for (const one of needed)
    params[String(one.in)] = { ...params[String(one.in)], [String(one.name)]: sampleOf(objectOf(one.schema)) }
  const content = isJsonObject(about.requestBody) ? objectOf(about.requestBody.content) : {}
  const body = content['application/json'] && sampleOf(objectOf(objectOf(content['application/json']).schema))
  const options = { ...(needed.length > 0 && { params }), ...(body !== undefined && { body }) }
  const streams = JSON.stringify(about.responses).includes('text/event-stream')
  const check = streams ? '' : `known(reply${at}.data)`
  const input = streams ? { ...options, parseAs: 'stream' } : options
  return `const reply${at} = await client.${method}(${JSON.stringify(path)}, ${JSON.stringify(input)})\n${check}`
}

/** `known` refuses what may be anything. */
const head = `import createClient from 'openapi-fetch'
import type { paths } from './written.ts'
const client = createClient<paths>({ baseUrl: 'http://127.0.0.1' })
function known<T>(value: unknown extends T ? never : T): void { void value }
`

async function problemsOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-client-'))
  folders.push(folder)
  const modules = join(import.meta.dirname, '..', '..', 'node_modules')
  await symlink(modules, join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const compilerOptions = {
    ...{ strict: true, noEmit: true, module: 'esnext', moduleResolution: 'bundler', target: 'es2022' },
    ...{
      allowImportingTsExtensions: true,
      lib: ['es2022', 'dom', 'dom.iterable'],
      types: [],
      skipLibCheck: true,
    },
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = promisify(execFile)(join(modules, '.bin', 'tsc'), ['-p', folder, '--pretty', 'false'])
  return tsc.then(
    () => '',
    (error: unknown) => String(objectOf(JSON.parse(JSON.stringify(error))).stdout),
  )
}

test('a client that openapi-typescript writes calls each endpoint of each example, and knows the types of the replies', async () => {
  const written = astToString(await openapiTypes(JSON.stringify(document)))
  const calls = operations.map(callOf).join('\n')
  expect(await problemsOf({ 'written.ts': written, 'calls.ts': `${head}${calls}\nexport {}\n` })).toBe('')
  const wrong = `const board = await client.GET('/api/v1/board')\nconst titles: number[] = board.data?.todo ?? []\nknown(titles)\n`
  const anything = `known(JSON.parse('1') as unknown)\n`
  const problems = await problemsOf({
    'written.ts': written,
    'wrong.ts': head + wrong,
    'anything.ts': head + anything,
  })
  expect(problems.match(/[a-z]+\.ts(?=\()/g)?.toSorted()).toEqual(['anything.ts', 'wrong.ts'])
})

/** How a client that Quoin writes calls an operation; `known` refuses a body that may be anything. */
function ownCallOf({ about }: Operation, at: number): string {
  const args: Record<string, JsonValue> = {}
  for (const one of listOf(about.parameters).map(objectOf))
    if (one.required === true && one.name !== 'idempotency-key')
      args[String(one.in)] = {
        ...objectOf(args[String(one.in)] ?? {}),
        [String(one.name)]: sampleOf(objectOf(one.schema)),
      }
  const content = isJsonObject(about.requestBody) ? objectOf(about.requestBody.content) : {}
  const json = content['application/json'] && objectOf(objectOf(content['application/json']).schema)
  if (json) args.body = sampleOf(json)
  const input =
    json === undefined && Object.keys(content).length > 0 ? '{ ...ARGS, body: new FormData() }' : 'ARGS'
  const streams = JSON.stringify(about.responses).includes('text/event-stream')
  const call = `const reply${at} = await api[${JSON.stringify(about.operationId ?? '')}](${input.replace('ARGS', JSON.stringify(args))})`
  return `${call}\n${streams ? '' : `known(reply${at}.body)`}`
}

const ownHead = `import { createClient } from './client.ts'
const api = createClient({ baseUrl: 'http://127.0.0.1' })
function known<T>(value: unknown extends T ? never : T): void { void value }
`

async function ownClient(as?: string): Promise<string> {
  const { status, text } = await quoin.send('GET', '/client.ts', as === undefined ? {} : { as })
  expect(status).toBe(200)
  return text
}

test('the client that Quoin writes calls each endpoint of each example, and knows the types of the replies', async () => {
  const client = await ownClient('admin')
  const calls = operations.map(ownCallOf).join('\n')
  expect(await problemsOf({ 'client.ts': client, 'calls.ts': `${ownHead}${calls}\nexport {}\n` })).toBe('')
  const right = [
    `const titles: readonly string[] = (await api.get_board({})).body.todo ?? []`,
    `await api.post_tasks({ body: { title: 'a' } })`,
    `const reply = await api.get_tasks({ query: { limit: 5 } })`,
  ]
  // Each is wrong in one thing: the compiler names it, and has nothing else to say.
  const wrong: readonly (readonly [name: string, line: string, says: RegExp])[] = [
    [
      'type',
      `const titles: readonly number[] = (await api.get_board({})).body.todo ?? []`,
      /Type 'string' is not assignable to type 'number'/,
    ],
    ['field', `await api.post_tasks({ body: { title: 'a', titel: 'a' } })`, /'titel' does not exist in type/],
    [
      'value',
      `await api.post_tasks({ body: { title: 7 } })`,
      /Type 'number' is not assignable to type 'string'/,
    ],
    ['parameter', `await api.get_tasks({ query: { limits: 5 } })`, /'limits'/],
    ['function', `await api.get_bord({})`, /Property 'get_bord' does not exist/],
  ]
  const lines = [...right.map((line, at) => [`right${at}`, line]), ...wrong]
  const files = lines.map(([name, line]) => [`${name}.ts`, `${ownHead}${line}\nexport {}\n`])
  const problems = await problemsOf({ 'client.ts': client, ...Object.fromEntries(files) })
  // A problem is a line that names its file, and what explains it further in.
  const found = problems.split(/\n(?=\S)/).map((one) => /(\w+)\.ts\((.*)/s.exec(one)?.slice(1) ?? [one])
  expect(found.map(([name]) => name).toSorted()).toEqual(wrong.map(([name]) => name).toSorted())
  for (const [name, , says] of wrong) expect(found.find(([file]) => file === name)?.[1]).toMatch(says)
})

test('its calls reach the server: bodies, paths, refusals and all pages of a list', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quoin-client-'))
  folders.push(folder)
  const file = join(folder, 'client.ts')
  await writeFile(file, await ownClient('admin'))
  const { createClient, each, ApiError } = await import(file)
  const answered: string[] = []
  const api = createClient({
    baseUrl: 'http://quoin.test',
    token: () => quoin.tokenOf('admin'),
    fetch: async (
      url: URL,
      { method, headers, body }: { method: 'POST'; headers: Headers; body?: string },
    ) => {
      const sent = { method, url: `${url.pathname}${url.search}`, headers: Object.fromEntries(headers) }
      const reply = await quoin.quoin.server.app.inject({
        ...sent,
        ...(body !== undefined && { payload: body }),
      })
      answered.push(`${method} ${url.pathname} ${reply.statusCode}`)
      const own = Object.entries(reply.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ])
      return new Response(reply.statusCode === 204 ? null : reply.body, {
        status: reply.statusCode,
        headers: own,
      })
    },
  })
  const refused = await api
    .signIn({ body: { username: 'admin', password: 'wrong' } })
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(ApiError)
  expect(refused).toMatchObject({ status: 401, problem: { error: expect.any(String) } })
  const made: string[] = []
  for (const name of ['A/B', 'C'])
    made.push((await api.post_suppliers({ body: { name }, idempotencyKey: `key ${name}` })).body._meta.guid)
  const twice = await api.post_suppliers({ body: { name: 'C' } }).catch((error: unknown) => error)
  expect(twice).toMatchObject({ status: 409, problem: { fields: { name: expect.any(String) } } })
  const names: string[] = []
  for await (const user of each((after?: string) =>
    api.searchUsers({ body: { limit: 1, ...(after && { after }) } }),
  ))
    names.push(user.username)
  expect(names).toContain('admin')
  const gone = await api.get_tasks_guid({ path: { guid: 'a/b ?#' } }).catch((error: unknown) => error)
  expect(gone).toMatchObject({ status: 404 })
  expect(answered.at(-1)).toBe('GET /api/v1/tasks/a%2Fb%20%3F%23 404')
})

test('a caller who is not signed in gets a client of what anyone may call', async () => {
  const [all, open] = [await ownClient('admin'), await ownClient()]
  expect(open.length).toBeLessThan(all.length)
  expect(open).toContain('export function createClient(')
})
