import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FileFixture, openFileFixture } from '../../../test/file-fixture.ts'
import {
  calls,
  json,
  type ModelTestServer,
  piece,
  says,
  startModelServer,
  streams,
  usagePiece,
} from '../../../test/model-server.ts'
import { type Circumstances, runBlock } from '../../../test/run-block.ts'
import { runVariables } from '../../flows/run/run-services.ts'
import type { JsonObject, JsonValue } from '../../shared/json.ts'
import { objectsIn } from '../../storage/document-fields.ts'
import type { Counted, CountedCall } from '../block-services.ts'
import block from './ask_model.ts'

let server: ModelTestServer
beforeAll(async () => {
  server = await startModelServer()
})
afterAll(() => server.close())

const noCounts = { count: async (): Promise<Counted> => ({ allowed: true, remaining: 1, retryAfter: 0 }) }

const ask = ({ inputs, ...more }: Circumstances = {}) =>
  runBlock(block, {
    ...{ allowedHosts: ['127.0.0.1'], services: { counts: noCounts } },
    ...more,
    inputs: { url: `${server.url}/v1/chat/completions`, model: 'small', input: 'Hello', ...inputs },
  })

const fields = [
  { name: 'title', type: 'text', required: true },
  { name: 'stars', type: 'whole number', min: 1, max: 5 },
]
const signatures = {
  stock: {
    description: 'What is left.',
    parameters: [
      { id: 'item', type: 'value' },
      { id: 'from', type: 'number' },
    ],
  },
} as const

test('the answer is a text, with its tokens and its cost', async () => {
  server.answers(says('Good day.'))
  const { outputs } = await ask({
    inputs: {
      instructions: 'Be kind.',
      history: [{ role: 'assistant', content: 'Hi' }],
      price_in: 2,
      price_out: 10,
      temperature: 0,
    },
  })
  expect(outputs).toEqual({
    answer: 'Good day.',
    finish: 'stop',
    tokens_in: 10,
    tokens_out: 5,
    cost: 0.00007,
    rounds: 1,
  })
  expect(server.seen).toEqual([
    {
      ...{ model: 'small', max_tokens: 1024, temperature: 0 },
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: 'Hello' },
      ],
    },
  ])
})

test.each([
  ['no input', { input: '' }, 'input is empty'],
  ['a history of other roles', { history: [{ role: 'system', content: 'x' }] }, 'history must hold'],
  ['a long history', { history: Array(201).fill({ role: 'user', content: 'x' }) }, 'at most 200'],
  ['a long input', { input: 'x'.repeat(1_100_000) }, 'at most 1048576'],
  ['a path without a connection', { url: 'chat/completions' }, 'url'],
])('%s is refused before anything is sent', async (_, inputs, message) => {
  server.answers(says('x'))
  await expect(
    ask({ inputs }).catch((error) => Promise.reject(new Error(`${error.pin} ${error.message}`))),
  ).rejects.toThrow(message)
  expect(server.seen).toEqual([])
})

test('fields are asked for by a schema, and read from the answer', async () => {
  server.answers(says('```json\n{"title":"Fine","stars":null}\n```'))
  expect((await ask({ fields: { fields } })).outputs.answer).toEqual({ title: 'Fine' })
  expect(server.seen[0]?.response_format).toEqual({
    type: 'json_schema',
    json_schema: {
      ...{ name: 'answer', strict: true },
      schema: {
        type: 'object',
        properties: { title: { type: 'string' }, stars: { type: ['integer', 'null'] } },
        required: ['title', 'stars'],
        additionalProperties: false,
      },
    },
  })
})

test('the fields of a storage are those of the answer', async () => {
  server.answers(says('{"kind":"b"}'))
  const rule = { storage: 'letters', required: true, defaultValue: undefined, limits: {} } as const
  const rules = () => [
    { ...rule, name: 'kind', type: 'string', limits: { choices: ['a', 'b'] } } as const,
    { ...rule, name: 'by', type: 'created_by' } as const,
  ]
  const { outputs } = await ask({ fields: { storage: 'letters' }, rules })
  expect(outputs.answer).toEqual({ kind: 'b' })
  expect(JSON.stringify(server.seen[0])).toContain('"kind":{"type":"string","enum":["a","b"]}')
  expect(JSON.stringify(server.seen[0])).not.toContain('"by"')
})

test.each([
  ['text', 'Sure! Here it is.', 'is not JSON'],
  ['a missing field', '{"stars":3}', 'title is required'],
  ['a field too many', '{"title":"a","rights":"all"}', 'no field rights'],
  ['a value beyond its limits', '{"title":"a","stars":9}', 'stars'],
  ['a fraction', '{"title":"a","stars":1.5}', 'stars must be a whole number'],
  ['a key that changes prototypes', '{"title":"a","__proto__":{"x":1}}', '__proto__'],
  ['a number that loses digits', '{"title":"a","stars":12345678901234567890}', 'stars'],
])('%s is repaired once, or invalid', async (_, wrong, problem) => {
  server.answers(says(wrong), says('{"title":"Right"}'))
  const repaired = await ask({ fields: { fields } })
  expect(repaired.outputs).toMatchObject({ answer: { title: 'Right' }, rounds: 2, tokens_in: 20 })
  expect(JSON.stringify(server.seen[1]?.messages)).toContain('Answer again')
  server.answers(says(wrong))
  const invalid = await ask({ fields: { fields } })
  expect(invalid).toMatchObject({ next: 'invalid', outputs: { answer: wrong, rounds: 2 } })
  expect(invalid.outputs.problem).toContain(problem)
  await expect(ask({ fields: { fields }, wired: [] })).rejects.toThrow('cannot be used')
})

test('tools are custom functions, called with their types, and committed before the next request', async () => {
  server.answers(calls(['stock', '{"item":"bread"}'], ['stock', '{"item":"milk","from":2}']), says('Seven.'))
  const functions = { stock: ({ item }: { item?: unknown }) => ({ [String(item)]: 7 }) }
  const ran = await ask({ fields: { tools: ['stock'] }, functions, signatures })
  expect(ran.outputs).toMatchObject({ answer: 'Seven.', rounds: 2, tokens_out: 10 })
  expect(ran.calls).toEqual([
    { name: 'stock', parameters: { item: 'bread' } },
    { name: 'stock', parameters: { item: 'milk', from: 2 } },
  ])
  expect(ran.commits).toHaveLength(1)
  expect(server.seen[0]?.tools).toEqual([
    {
      type: 'function',
      function: {
        ...{ name: 'stock', description: 'What is left.' },
        parameters: {
          type: 'object',
          properties: { item: { type: 'string' }, from: { type: 'number' } },
          additionalProperties: false,
        },
      },
    },
  ])
  expect(server.seen[1]?.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'id_0' }, { id: 'id_1' }] },
    { role: 'tool', tool_call_id: 'id_0', content: '{"bread":7}' },
    { role: 'tool', tool_call_id: 'id_1', content: '{"milk":7}' },
  ])
})

test.each([
  ['a tool that there is not', ['drop_all', '{}'], 'There is no tool drop_all'],
  ['broken JSON', ['stock', '{"item":'], 'the JSON is not JSON'],
  ['no object', ['stock', '[1]'], 'must be a JSON object'],
  ['a parameter that there is not', ['stock', '{"admin":true}'], 'no parameter admin'],
  ['a value of another type', ['stock', '{"from":"many"}'], 'from must be'],
] as const)('a call with %s runs nothing, and the model is told so', async (_, call, message) => {
  server.answers(calls(call), says('Sorry.'))
  const ran = await ask({ fields: { tools: ['stock'] }, functions: { stock: () => 1 }, signatures })
  expect(ran.calls).toEqual([])
  expect(JSON.stringify(server.seen[1]?.messages)).toContain(message)
  expect(ran.outputs.answer).toBe('Sorry.')
})

test('a model that only calls tools is ended, and so is one that uses too many tokens', async () => {
  server.answers(calls(['stock', '{}']))
  const tools = { fields: { tools: ['stock'] }, functions: { stock: () => 1 }, signatures }
  await expect(ask({ ...tools, inputs: { max_rounds: 3 } })).rejects.toThrow('more than 3 times')
  expect(server.seen).toHaveLength(4)
  server.answers(calls(['stock', '{}']))
  await expect(ask({ ...tools, inputs: { tokens_per_run: 20 } })).rejects.toThrow('more than 20 tokens')
  expect(server.seen).toHaveLength(2)
})

test.each<[string, JsonObject, number, string]>([
  ['tokens', { tokens_per_run: 20 }, 2, 'more than 20 tokens, which is tokens_per_run'],
  [
    'money',
    { money_per_run: 0.00005, price_in: 2, price_out: 1 },
    3,
    'more than 0.00005, which is money_per_run',
  ],
  ['time', { seconds_per_run: 25 }, 3, 'more than 25 seconds, which is seconds_per_run'],
])(
  'a run is ended by the %s of all executions in it, and by those of no other run',
  async (_, limit, asked, message) => {
    let time = 0
    const now = () => time
    server.answers((...sent) => {
      time += 10_000
      says('x')(...sent)
    })
    const variables = runVariables()
    const again = () => ask({ inputs: limit, variables, now })
    for (let count = 0; count < asked; count += 1) await again()
    await expect(again()).rejects.toThrow(message)
    await expect(again()).rejects.toThrow(message)
    expect(server.seen).toHaveLength(asked)
    expect((await ask({ inputs: limit, now })).outputs.answer).toBe('x')
  },
)

test('a request gets no more time than is left to the run', async () => {
  server.answers(() => undefined)
  const inputs = { seconds_per_run: 0.2, timeout: 30 }
  await expect(ask({ inputs })).rejects.toThrow('did not reply within 0.2 seconds')
})

describe('files', () => {
  let files: FileFixture
  beforeAll(async () => {
    files = await openFileFixture()
  })
  afterAll(() => files.close())

  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const askWith = (inputs: JsonObject) =>
    files.run(block, {
      ...{ allowedHosts: ['127.0.0.1'], services: { counts: noCounts, files: files.files } },
      inputs: { url: `${server.url}/v1/chat/completions`, model: 'small', ...inputs },
    })

  test.each<[string, () => Promise<JsonValue>, string]>([
    ['a file that there is not', async () => 'none.png', 'files names no asset'],
    ['no file', async () => 7, 'files must be the guid or the name'],
    ['eleven files', async () => Array(11).fill('a.txt'), 'files must be at most 10 files'],
    [
      'more than 4 MiB together',
      async () => [await files.put('a.txt', 'a'.repeat(3e6)), await files.put('b.txt', 'b'.repeat(2e6))],
      'files must have at most 4194304 bytes together',
    ],
  ])('%s is refused before anything is sent', async (_what, named, message) => {
    server.answers(says('x'))
    const asked = askWith({ input: 'Read.', files: await named() })
    await expect(
      asked.catch((error) => Promise.reject(new Error(`${error.pin} ${error.message}`))),
    ).rejects.toThrow(message)
    expect(server.seen).toEqual([])
  })

  test('an image, a text and another file go along as their kinds of parts, in their order', async () => {
    server.answers(says('A letter.'))
    await files.put('note.txt', 'Grüße')
    const letter = await files.put('letter.pdf', '%PDF-1.7\n1 0 obj')
    await files.put('photo.png', png)
    const named = ['photo.png', 'note.txt', { guid: letter }]
    expect((await askWith({ input: 'What is it?', files: named })).outputs.answer).toBe('A letter.')
    const data = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`
    expect(server.seen[0]?.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is it?' },
          { type: 'image_url', image_url: { url: data('image/png', png) } },
          { type: 'text', text: 'File note.txt:\nGrüße' },
          {
            type: 'file',
            file: {
              filename: 'letter.pdf',
              file_data: data('application/pdf', Buffer.from('%PDF-1.7\n1 0 obj')),
            },
          },
        ],
      },
    ])
  })

  test('a file alone is a question, and is estimated as it is sent', async () => {
    server.answers(says('x', { usage: {} }))
    const { outputs } = await askWith({
      files: await files.put('photo.png', Buffer.concat([png, Buffer.alloc(30_000)])),
    })
    expect(server.seen[0]?.messages).toMatchObject([{ role: 'user', content: [{ type: 'image_url' }] }])
    expect(Number(outputs.tokens_in)).toBeGreaterThan(10_000)
  })
})

test('arguments that are too long reach no function, and are not sent back', async () => {
  const called: unknown[] = []
  const tools = {
    fields: { tools: ['stock'] },
    functions: { stock: (input: unknown) => called.push(input) },
    signatures,
  }
  const written = JSON.stringify({ item: 'x'.repeat(300_000) })
  const value = { id: 'a', type: 'function', function: { name: 'stock', arguments: JSON.parse(written) } }
  const message = { role: 'assistant', content: null, tool_calls: [value] }
  server.answers(calls(['stock', written]), json({ choices: [{ message }] }), says('Seven.'))
  expect((await ask(tools)).outputs).toMatchObject({ answer: 'Seven.', rounds: 3 })
  expect(called).toEqual([])
  expect(JSON.stringify(server.seen[1])).toContain('have more than 262144 characters')
  expect(JSON.stringify(server.seen).length).toBeLessThan(5_000)
})

test('a talk that grows with each round is ended, whatever the server says that it counted', async () => {
  const long = JSON.stringify({ item: 'x'.repeat(250_000) })
  server.answers(calls(['stock', long], ['stock', long], ['stock', long]))
  const tools = { fields: { tools: ['stock'] }, functions: { stock: () => 1 }, signatures }
  await expect(ask({ ...tools, inputs: { max_rounds: 50 } })).rejects.toThrow(
    'has more than 2097152 characters',
  )
  expect(server.seen).toHaveLength(3)
})

test('an answer with fields that is too long is not read, and its beginning is sent back', async () => {
  server.answers(says(`{"title":"${'x'.repeat(600_000)}"}`), says('{"title":"Right"}'))
  const { outputs } = await ask({ fields: { fields } })
  expect(outputs).toMatchObject({ answer: { title: 'Right' }, rounds: 2 })
  const content = objectsIn(server.seen[1]?.messages).at(-2)?.content
  expect([String(content).length, JSON.stringify(server.seen[1])]).toEqual([
    524_288,
    expect.stringContaining('The answer has more than 524288 characters.'),
  ])
})

test('a tool that no active blueprint has is named', async () => {
  await expect(ask({ fields: { tools: ['gone'] } })).rejects.toThrow('"gone"')
})

test('a stream cut at any byte is published while it arrives, and calls tools', async () => {
  const called = (index: number, part: object) => piece({ tool_calls: [{ index, ...part }] })
  server.answers(
    streams([
      called(0, { id: 'a', function: { name: 'stock', arguments: '' } }),
      called(0, { function: { arguments: '{"item":' } }),
      called(0, { function: { arguments: '"ü"}' } }),
      piece({}, 'tool_calls'),
      ...[usagePiece, '[DONE]'],
    ]),
    streams(
      [piece({ content: 'Grüß' }), piece({ content: ' Gott 😀' }), piece({}, 'stop'), usagePiece, '[DONE]'],
      3,
    ),
  )
  const ran = await ask({
    inputs: { channel: 'talk' },
    fields: { tools: ['stock'] },
    ...{ functions: { stock: () => 1 }, signatures },
  })
  expect(ran.outputs).toMatchObject({ answer: 'Grüß Gott 😀', finish: 'stop', tokens_in: 20, tokens_out: 10 })
  expect(ran.calls).toEqual([{ name: 'stock', parameters: { item: 'ü' } }])
  const texts = ran.published.map(({ data }) => JSON.parse(data))
  expect(texts.map(({ text = '' }) => text).join('')).toBe('Grüß Gott 😀')
  expect(texts.at(-1)).toEqual({ done: true })
  expect(server.seen[0]).toMatchObject({ stream: true, stream_options: { include_usage: true } })
})

test('a server that does not stream answers as a whole', async () => {
  server.answers(says('Whole.'))
  const { outputs, published } = await ask({ inputs: { channel: 'talk' } })
  expect(outputs.answer).toBe('Whole.')
  expect(published.map(({ data }) => data)).toEqual(['{"text":"Whole."}', '{"done":true}'])
})

test.each([
  ['broken JSON', json('{"choices": ['), 'other than a JSON object'],
  ['no choices', json({ choices: [] }), 'without a message'],
  ['no message', json({ choices: [{}] }), 'without a message'],
  ['nothing', json({}), 'without a message'],
  ['a stream of nothing', streams(['[DONE]']), 'without a message'],
  ['an error', json({ error: { message: 'No such model.' } }, 404), 'status 404: No such model.'],
  ['an error of the server', json('oops', 500), 'status 500'],
  ['a list of 2.5 million lists', json(`{"a":[${'[],'.repeat(2_500_000)}[]]}`), 'more than 600,000 values'],
  [
    'lists in 100 others',
    json(`{"a":${'['.repeat(100)}"${'x'.repeat(70_000)}"${']'.repeat(100)}}`),
    'deeper than 64 levels',
  ],
  [
    'an object of 30,000 names',
    json(Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`a${at}`, 1]))),
    'more than 25,000 names',
  ],
  ['more than 8 MiB', json(`{"a":"${'x'.repeat(9e6)}"}`), 'larger than'],
  ['a stream that ends early', streams([piece({ content: 'x' })]), 'before it was complete'],
  ['a stream with broken JSON', streams(['{"choices":']), 'other than a JSON object'],
  ['a stream with an error', streams([{ error: { message: 'x' } }]), 'with an error'],
] as const)('a reply with %s is an error of the block', async (_, answer, message) => {
  server.answers(answer)
  await expect(ask({ inputs: { channel: 'talk' } })).rejects.toThrow(message)
})

test('a server that never answers, or ends the connection, is an error in time', async () => {
  server.answers(() => undefined)
  await expect(ask({ inputs: { timeout: 0.2 } })).rejects.toThrow('did not reply within 0.2 seconds')
  server.answers((response) => void response.destroy())
  await expect(ask()).rejects.toThrow('could not be reached')
  const ended = AbortSignal.abort(new Error('The run ended.'))
  await expect(ask({ signal: ended })).rejects.toThrow('The run ended.')
})

test('a rate limit is waited for as the server says, and only where attempts are set', async () => {
  const limited = json({ error: { message: 'Slow down.' } }, 429, { 'retry-after': '0' })
  server.answers(limited, says('Now.'))
  expect((await ask({ inputs: { attempts: 2 }, deadline: Number.MAX_SAFE_INTEGER })).outputs.answer).toBe(
    'Now.',
  )
  server.answers(limited, says('Never.'))
  await expect(ask()).rejects.toThrow('status 429: Slow down.')
})

test('a private address is refused unless it is allowed', async () => {
  await expect(ask({ allowedHosts: [] })).rejects.toThrow(expect.objectContaining({ pin: 'url' }))
})

test('tokens are estimated where the server does not count them', async () => {
  server.answers(
    says('x'.repeat(300), { usage: {} }),
    says('x', { usage: { prompt_tokens: -5, completion_tokens: 'many' } }),
  )
  expect((await ask()).outputs).toMatchObject({ tokens_out: 100 })
  expect(Number((await ask()).outputs.tokens_in)).toBeGreaterThan(10)
})

test('a day without tokens or money left sends nothing', async () => {
  const counted: CountedCall[] = []
  const counts = {
    async count(call: CountedCall): Promise<Counted> {
      counted.push(call)
      const allowed = call.most > 1_000_000
      return { allowed, remaining: 0, retryAfter: allowed ? 0 : 60 }
    },
  }
  server.answers(says('x'))
  const over = await ask({ services: { counts }, inputs: { tokens_per_day: 100 } })
  expect(over).toMatchObject({ next: 'exceeded', outputs: { tokens_in: 0, rounds: 0 } })
  await expect(
    ask({ services: { counts }, wired: [], inputs: { money_per_day: 0.5 } }),
  ).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    retryAfter: 60,
  })
  expect(server.seen).toEqual([])
  for (const [answer, used] of [
    [() => undefined, true],
    [streams([{ choices: [{ delta: { content: 'x' } }] }]), true],
    [json({ choices: [] }), true],
    [json({ error: { message: 'no' } }, 400), false],
  ] as const) {
    server.answers(answer)
    counted.length = 0
    const limits = { tokens_per_day: 2e6, timeout: 0.2, channel: 'talk' }
    await expect(ask({ services: { counts }, inputs: limits })).rejects.toThrow()
    expect(counted.some(({ amount }) => amount > 0)).toBe(used)
  }
  server.answers(says('x'))
  counted.length = 0
  await ask({
    services: { counts },
    block: 'b',
    inputs: { tokens_per_day: 2e6, money_per_day: 2, price_in: 3, budget: ' ann ' },
  })
  expect(counted.map(({ key, amount }) => [key, amount])).toEqual([
    ['["model","tokens","name","ann"]', 0],
    ['["model","money","name","ann"]', 0],
    ['["model","tokens","name","ann"]', 15],
    ['["model","money","name","ann"]', 30],
  ])
})
