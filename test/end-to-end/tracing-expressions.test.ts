/** What the steps of a traced run say about the expressions of their pins. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/shared/json.ts'
import { objectsOf } from './harness.ts'
import { openTracingFixture, type TracedBlueprint, type TracingFixture } from './tracing-fixture.ts'

let fixture: TracingFixture
let traced: TracedBlueprint

const schema = [
  { name: 'count', in: 'query', type: 'number' },
  { name: 'factor', in: 'query', type: 'number', default: 2 },
]

beforeAll(async () => {
  fixture = await openTracingFixture()
  traced = await fixture.install('Expressions', {
    get: { type: 'on_startup_register_uri_get', in: { uri: 'double' }, fields: { schema } },
    double: {
      type: 'httpconnection_set_json',
      in: { flow: '@get.flow', value: '=params.count > 100 ? query.never : params.count * params.factor' },
    },

    deep: { type: 'on_startup_register_uri_get', in: { uri: 'deep' }, fields: { schema } },
    inner: { type: 'number_default', in: { value: '=params.count + 1', default: 0 } },
    outer: {
      type: 'httpconnection_set_json',
      in: { flow: '@deep.flow', value: '=[inner.number, inner.number + params.factor]' },
    },

    each: { type: 'on_startup_register_uri_post', in: { uri: 'each' } },
    map: { type: 'array_map', in: { array: '=body.list', result: '=item.n + index' } },
    mapped: { type: 'httpconnection_set_json', in: { flow: '@each.flow', value: '@map.array' } },

    sum: { type: 'on_startup_register_uri_post', in: { uri: 'sum' } },
    summed: { type: 'httpconnection_set_json', in: { flow: '@sum.flow', value: '="Amount " + body.amount' } },

    hide: { type: 'on_startup_register_uri_post', in: { uri: 'hide' } },
    hidden: {
      type: 'httpconnection_set_json',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression has template literals of its own.
      in: { flow: '@hide.flow', value: '=`${body.password}!${body.pin}!${body.text.length}`' },
    },
  })
  await traced.trace(true)
})
afterAll(() => fixture.close())

async function expressionsOf(
  block: string,
  trigger: string,
  send: () => Promise<unknown>,
): Promise<readonly JsonObject[]> {
  await send()
  const run = await traced.lastRun(trigger)
  return objectsOf(run.steps)
    .filter((step) => step.block === traced.block(block))
    .flatMap((step) => objectsOf(step.expressions ?? []))
}

const get = (path: string) => () => fixture.quoin.send('GET', path)
const post = (path: string, body: JsonValue) => () => fixture.quoin.send('POST', path, { body })

test('the text, the value and the names that were read, and no others', async () => {
  const text = 'params.count > 100 ? query.never : params.count * params.factor'
  expect(await expressionsOf('double', 'get', get('/double?count=21'))).toEqual([
    { pin: 'value', text, value: 42, names: { 'params.count': 21, 'params.factor': 2 } },
  ])
  expect(await expressionsOf('double', 'get', get('/double?count=200'))).toEqual([
    { pin: 'value', text, value: null, names: { 'params.count': 200, 'query.never': null } },
  ])
})

test('an expression that reads a block with an expression: each has its own', async () => {
  const inner = { pin: 'value', text: 'params.count + 1', value: 4, names: { 'params.count': 3 } }
  const send = get('/deep?count=3')
  expect(await expressionsOf('inner', 'deep', send)).toEqual([inner])
  expect(await expressionsOf('outer', 'deep', send)).toEqual([
    {
      pin: 'value',
      text: '[inner.number, inner.number + params.factor]',
      value: [4, 6],
      names: { 'inner.number': 4, 'params.factor': 2 },
    },
  ])
})

test('one that is evaluated for each element: each evaluation, and at most 20', async () => {
  const list = Array.from({ length: 30 }, (_, n) => ({ n }))
  const send = (length: number) => post('/each', { list: list.slice(0, length) })
  const few = await expressionsOf('map', 'each', send(2))
  expect(few.filter(({ pin }) => pin === 'result')).toEqual([
    { pin: 'result', text: 'item.n + index', value: 0, names: { item: { n: 0 }, index: 0 } },
    { pin: 'result', text: 'item.n + index', value: 2, names: { item: { n: 1 }, index: 1 } },
  ])
  expect(await expressionsOf('map', 'each', send(30))).toHaveLength(20)
  expect((await traced.lastRun('each')).cut).toBe(true)
})

test('one that fails: what it read, and why', async () => {
  expect(await expressionsOf('double', 'get', get('/double?count=100&factor=1e308'))).toEqual([
    {
      pin: 'value',
      text: expect.stringContaining('params.factor'),
      value: null,
      names: { 'params.count': 100, 'params.factor': 1e308 },
      error: expect.stringContaining('is not a finite number'),
    },
  ])
})

test('the error of a run names the pin of the expression once', async () => {
  await post('/sum', { amount: 12 })()
  const steps = objectsOf((await traced.lastRun('sum')).steps)
  expect(steps.at(-1)).toMatchObject({ error: expect.stringMatching(/^value: /) })
})

test('no secret, in a value neither', async () => {
  const body = { password: 'correct horse', pin: '9876', text: 'abc' }
  const [seen] = await expressionsOf('hidden', 'hide', post('/hide', body))
  expect(seen).toMatchObject({
    value: '•••!9876!3',
    names: { 'body.password': '•••', 'body.pin': '•••', 'body.text': 'abc' },
  })
})

test('long values are cut, and a run does not outgrow its bound', async () => {
  const list = Array.from({ length: 25 }, (_, n) => ({ n, long: 'x'.repeat(20_000) }))
  const evaluated = await expressionsOf('map', 'each', post('/each', { list }))
  expect(evaluated[1]).toMatchObject({ names: { item: { $cut: expect.any(String), bytes: 20_017 } } })
  const run = await traced.lastRun('each')
  expect(Buffer.byteLength(JSON.stringify(run))).toBeLessThan(400 * 1024)
})

test('a step without an expression says nothing of any', async () => {
  await get('/double?count=1')()
  const [trigger] = objectsOf((await traced.lastRun('get')).steps)
  expect(trigger).not.toHaveProperty('expressions')
})
